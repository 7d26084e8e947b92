package us.codecraft.webmagic.scheduler;

import java.io.FileWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import us.codecraft.webmagic.Request;
import us.codecraft.webmagic.Task;

/**
 * A stand-in that writes each new URL at once and knows nothing of what was handed out: a resume hands all of them out again. As the real
 * one it opens its files at the first push or poll, and can count nothing before.
 */
public class FileCacheQueueScheduler extends PriorityScheduler implements AutoCloseable {
  private final String directory;
  private FileWriter lines;

  public FileCacheQueueScheduler(String directory) {
    this.directory = directory;
  }

  private void open() {
    if (lines != null) return;
    try {
      Path path = Files.createDirectories(Path.of(directory)).resolve("urls.txt");
      if (Files.exists(path))
        for (String url : Files.readAllLines(path)) super.push(new Request(url), null);
      lines = new FileWriter(path.toFile(), true);
    } catch (IOException cause) {
      throw new UncheckedIOException(cause);
    }
  }

  @Override
  public void push(Request request, Task task) {
    open();
    int before = getTotalRequestsCount(task);
    super.push(request, task);
    if (getTotalRequestsCount(task) == before) return;
    try {
      lines.write(request.getUrl() + "\n");
      lines.flush();
    } catch (IOException cause) {
      throw new UncheckedIOException(cause);
    }
  }

  @Override
  public Request poll(Task task) {
    open();
    return super.poll(task);
  }

  @Override
  public int getTotalRequestsCount(Task task) {
    if (lines == null) throw new NullPointerException("nothing was opened yet");
    return super.getTotalRequestsCount(task);
  }

  @Override
  public void close() throws IOException {
    lines.close();
  }
}

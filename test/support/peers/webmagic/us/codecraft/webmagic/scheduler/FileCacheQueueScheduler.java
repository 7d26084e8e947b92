package us.codecraft.webmagic.scheduler;

import java.io.FileWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import us.codecraft.webmagic.Request;
import us.codecraft.webmagic.Task;

/** A stand-in that writes each new URL at once and knows nothing of what was handed out: a resume hands all of them out again. */
public class FileCacheQueueScheduler extends PriorityScheduler implements AutoCloseable {
  private final FileWriter lines;

  public FileCacheQueueScheduler(String directory) {
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
  public void close() throws IOException {
    lines.close();
  }
}

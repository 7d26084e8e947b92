import java.util.ArrayList;
import java.util.List;
import us.codecraft.webmagic.Request;
import us.codecraft.webmagic.Site;
import us.codecraft.webmagic.Task;
import us.codecraft.webmagic.scheduler.FileCacheQueueScheduler;
import us.codecraft.webmagic.scheduler.MonitorableScheduler;
import us.codecraft.webmagic.scheduler.PriorityScheduler;
import us.codecraft.webmagic.scheduler.Scheduler;

/** WebMagic's schedulers: PriorityScheduler in memory, FileCacheQueueScheduler with a directory. */
final class Drive implements Steps.Frontier {
  private final Task task =
      new Task() {
        @Override
        public String getUUID() {
          return "bench";
        }

        @Override
        public Site getSite() {
          return Site.me();
        }
      };
  private Scheduler scheduler;

  /** Different URLs after the last push. */
  private int known;

  public static void main(String[] words) throws Exception {
    Steps.drive("WebMagic's PriorityScheduler, FileCacheQueueScheduler", new Drive(), words);
  }

  @Override
  public void open(String directory) {
    scheduler =
        directory.isEmpty() ? new PriorityScheduler() : new FileCacheQueueScheduler(directory);
  }

  @Override
  public int push(List<String> urls) {
    for (String url : urls) scheduler.push(new Request(url), task);
    // Asked only now: before its first push the one with files has no set to count.
    int total = ((MonitorableScheduler) scheduler).getTotalRequestsCount(task);
    int accepted = total - known;
    known = total;
    return accepted;
  }

  @Override
  public List<String> poll(int most) {
    List<String> urls = new ArrayList<>();
    while (urls.size() < most) {
      Request request = scheduler.poll(task);
      if (request == null) break;
      urls.add(request.getUrl());
    }
    return urls;
  }

  @Override
  public boolean done(List<String> urls) {
    return false;
  }

  @Override
  public void close() throws Exception {
    if (scheduler instanceof AutoCloseable closeable) closeable.close();
  }
}

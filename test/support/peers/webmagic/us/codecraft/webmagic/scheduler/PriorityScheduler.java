package us.codecraft.webmagic.scheduler;

import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Queue;
import java.util.Set;
import us.codecraft.webmagic.Request;
import us.codecraft.webmagic.Task;

/** A stand-in: first in, first out, each URL once. */
public class PriorityScheduler implements MonitorableScheduler {
  private final Queue<Request> waiting = new ArrayDeque<>();
  private final Set<String> seen = new HashSet<>();

  @Override
  public void push(Request request, Task task) {
    if (seen.add(request.getUrl())) waiting.add(request);
  }

  @Override
  public Request poll(Task task) {
    return waiting.poll();
  }

  @Override
  public int getTotalRequestsCount(Task task) {
    return seen.size();
  }
}

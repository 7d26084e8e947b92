package us.codecraft.webmagic.scheduler;

import us.codecraft.webmagic.Request;
import us.codecraft.webmagic.Task;

/** A stand-in with the methods that the driver calls. */
public interface Scheduler {
  void push(Request request, Task task);

  Request poll(Task task);
}

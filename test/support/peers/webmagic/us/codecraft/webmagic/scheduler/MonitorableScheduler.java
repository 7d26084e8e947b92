package us.codecraft.webmagic.scheduler;

import us.codecraft.webmagic.Task;

/** A stand-in with the methods that the driver calls. */
public interface MonitorableScheduler extends Scheduler {
  int getTotalRequestsCount(Task task);
}

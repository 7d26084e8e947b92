package us.codecraft.webmagic;

/** A stand-in with the methods that the driver calls. */
public interface Task {
  String getUUID();

  Site getSite();
}

package us.codecraft.webmagic;

/** A stand-in with the methods that the driver calls. */
public class Site {
  public static Site me() {
    return new Site();
  }
}

package us.codecraft.webmagic;

/** A stand-in with the methods that the driver calls. */
public class Request {
  private final String url;

  public Request(String url) {
    this.url = url;
  }

  public String getUrl() {
    return url;
  }
}

package crawlercommons.urlfrontier;

/** A stand-in: the messages that the driver uses, each its own builder. */
public final class Urlfrontier {
  private Urlfrontier() {}

  public static final class Empty {}

  public static final class AckMessage {
    public enum Status {
      OK,
      SKIPPED
    }

    private final Status status;

    public AckMessage(Status status) {
      this.status = status;
    }

    public Status getStatus() {
      return status;
    }
  }

  public static final class URLInfo {
    private String url = "";
    private String key = "";

    public static URLInfo newBuilder() {
      return new URLInfo();
    }

    public URLInfo setUrl(String value) {
      url = value;
      return this;
    }

    public URLInfo setKey(String value) {
      key = value;
      return this;
    }

    public URLInfo build() {
      return this;
    }

    public String getUrl() {
      return url;
    }

    public String getKey() {
      return key;
    }
  }

  public static final class DiscoveredURLItem {
    public URLInfo info;

    public static DiscoveredURLItem newBuilder() {
      return new DiscoveredURLItem();
    }

    public DiscoveredURLItem setInfo(URLInfo value) {
      info = value;
      return this;
    }

    public DiscoveredURLItem build() {
      return this;
    }
  }

  public static final class KnownURLItem {
    public URLInfo info;

    public static KnownURLItem newBuilder() {
      return new KnownURLItem();
    }

    public KnownURLItem setInfo(URLInfo value) {
      info = value;
      return this;
    }

    public KnownURLItem setRefetchableFromDate(long value) {
      return this;
    }

    public KnownURLItem build() {
      return this;
    }
  }

  public static final class URLItem {
    public DiscoveredURLItem discovered;
    public KnownURLItem known;

    public static URLItem newBuilder() {
      return new URLItem();
    }

    public URLItem setID(String value) {
      return this;
    }

    public URLItem setDiscovered(DiscoveredURLItem value) {
      discovered = value;
      return this;
    }

    public URLItem setKnown(KnownURLItem value) {
      known = value;
      return this;
    }

    public URLItem build() {
      return this;
    }
  }

  public static final class GetParams {
    public int maxQueues;
    public int maxUrlsPerQueue;

    public static GetParams newBuilder() {
      return new GetParams();
    }

    public GetParams setMaxQueues(int value) {
      maxQueues = value;
      return this;
    }

    public GetParams setMaxUrlsPerQueue(int value) {
      maxUrlsPerQueue = value;
      return this;
    }

    public GetParams setDelayRequestable(int value) {
      return this;
    }

    public GetParams build() {
      return this;
    }
  }

  public static final class QueueDelayParams {
    public static QueueDelayParams newBuilder() {
      return new QueueDelayParams();
    }

    public QueueDelayParams setDelayRequestable(int value) {
      return this;
    }

    public QueueDelayParams build() {
      return this;
    }
  }
}

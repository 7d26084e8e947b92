import crawlercommons.urlfrontier.Urlfrontier.AckMessage;
import crawlercommons.urlfrontier.Urlfrontier.DiscoveredURLItem;
import crawlercommons.urlfrontier.Urlfrontier.Empty;
import crawlercommons.urlfrontier.Urlfrontier.GetParams;
import crawlercommons.urlfrontier.Urlfrontier.KnownURLItem;
import crawlercommons.urlfrontier.Urlfrontier.QueueDelayParams;
import crawlercommons.urlfrontier.Urlfrontier.URLInfo;
import crawlercommons.urlfrontier.Urlfrontier.URLItem;
import crawlercommons.urlfrontier.service.memory.MemoryFrontierService;
import io.grpc.stub.StreamObserver;
import java.lang.reflect.Constructor;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** URLFrontier's memory service in this process: its own methods, and no wire between. */
final class Drive implements Steps.Frontier {
  /** Longer than a run: what was handed out is not handed out again. */
  private static final int HELD_SECONDS = 3_600;

  /**
   * Hosts in a call, each with all that it has: a queue with as many URLs under way as are asked of it gives no more until they are done,
   * and none gives twice in one second.
   */
  private static final int QUEUES = 20;

  private MemoryFrontierService service;

  public static void main(String[] words) throws Exception {
    Steps.drive("URLFrontier's memory service, in process", new Drive(), words);
  }

  @Override
  public void open(String directory) throws Exception {
    service = serviceOf();
    CountDownLatch ended = new CountDownLatch(1);
    // Without a key it is for every host: no politeness, as on the other sides.
    service.setDelay(
        QueueDelayParams.newBuilder().setDelayRequestable(0).build(),
        new StreamObserver<Empty>() {
          @Override
          public void onNext(Empty answer) {}

          @Override
          public void onError(Throwable cause) {
            ended.countDown();
          }

          @Override
          public void onCompleted() {
            ended.countDown();
          }
        });
    ended.await();
  }

  /** Later versions want to know where they will be reached; nobody reaches this one. */
  private static MemoryFrontierService serviceOf() throws Exception {
    for (Constructor<?> each : MemoryFrontierService.class.getConstructors())
      if (each.getParameterCount() == 2)
        return (MemoryFrontierService) each.newInstance("localhost", 0);
    return (MemoryFrontierService) MemoryFrontierService.class.getConstructor().newInstance();
  }

  @Override
  public int push(List<String> urls) throws Exception {
    List<URLItem> items = new ArrayList<>(urls.size());
    for (String url : urls) {
      DiscoveredURLItem item = DiscoveredURLItem.newBuilder().setInfo(infoOf(url)).build();
      items.add(URLItem.newBuilder().setID(url).setDiscovered(item).build());
    }
    return put(items);
  }

  /** All that a few hosts have, which may be more than `most`. */
  @Override
  public List<String> poll(int most) throws Exception {
    GetParams wanted =
        GetParams.newBuilder()
            .setMaxQueues(QUEUES)
            .setMaxUrlsPerQueue(0)
            .setDelayRequestable(HELD_SECONDS)
            .build();
    List<String> urls = new ArrayList<>();
    CountDownLatch ended = new CountDownLatch(1);
    service.getURLs(
        wanted,
        new StreamObserver<URLInfo>() {
          @Override
          public void onNext(URLInfo info) {
            urls.add(info.getUrl());
          }

          @Override
          public void onError(Throwable cause) {
            ended.countDown();
          }

          @Override
          public void onCompleted() {
            ended.countDown();
          }
        });
    ended.await();
    return urls;
  }

  @Override
  public boolean done(List<String> urls) throws Exception {
    List<URLItem> items = new ArrayList<>(urls.size());
    for (String url : urls) {
      // A date of 0 says that it is not to be fetched again.
      KnownURLItem item =
          KnownURLItem.newBuilder().setInfo(infoOf(url)).setRefetchableFromDate(0).build();
      items.add(URLItem.newBuilder().setID(url).setKnown(item).build());
    }
    put(items);
    return true;
  }

  /** Waits until each is answered, and counts those that were taken. */
  private int put(List<URLItem> items) throws Exception {
    AtomicInteger taken = new AtomicInteger();
    CountDownLatch answered = new CountDownLatch(items.size());
    StreamObserver<URLItem> stream =
        service.putURLs(
            new StreamObserver<AckMessage>() {
              @Override
              public void onNext(AckMessage answer) {
                if (answer.getStatus() == AckMessage.Status.OK) taken.incrementAndGet();
                answered.countDown();
              }

              @Override
              public void onError(Throwable cause) {
                while (answered.getCount() > 0) answered.countDown();
              }

              @Override
              public void onCompleted() {}
            });
    for (URLItem item : items) stream.onNext(item);
    stream.onCompleted();
    answered.await();
    return taken.get();
  }

  private static URLInfo infoOf(String url) {
    return URLInfo.newBuilder().setUrl(url).setKey(URI.create(url).getHost()).build();
  }

  @Override
  public void close() throws Exception {
    service.close();
  }
}

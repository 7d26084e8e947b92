package crawlercommons.urlfrontier.service.memory;

import crawlercommons.urlfrontier.Urlfrontier.AckMessage;
import crawlercommons.urlfrontier.Urlfrontier.Empty;
import crawlercommons.urlfrontier.Urlfrontier.GetParams;
import crawlercommons.urlfrontier.Urlfrontier.QueueDelayParams;
import crawlercommons.urlfrontier.Urlfrontier.URLInfo;
import crawlercommons.urlfrontier.Urlfrontier.URLItem;
import io.grpc.stub.StreamObserver;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * A stand-in with the two rules of the real one that a caller has to know: a queue that has as many URLs under way as are asked of it gives no more, and
 * none gives twice (the real one: twice within a second).
 */
public final class MemoryFrontierService {
  private static final class Queue {
    final ArrayDeque<String> waiting = new ArrayDeque<>();
    int underWay;
    boolean hasGiven;
  }

  private final Map<String, Queue> queues = new LinkedHashMap<>();
  private final Set<String> seen = new HashSet<>();

  public void setDelay(QueueDelayParams wanted, StreamObserver<Empty> answers) {
    answers.onCompleted();
  }

  public StreamObserver<URLItem> putURLs(StreamObserver<AckMessage> answers) {
    return new StreamObserver<URLItem>() {
      @Override
      public void onNext(URLItem item) {
        boolean isTaken = item.known != null ? finish(item.known.info) : take(item.discovered.info);
        answers.onNext(new AckMessage(isTaken ? AckMessage.Status.OK : AckMessage.Status.SKIPPED));
      }

      @Override
      public void onError(Throwable cause) {}

      @Override
      public void onCompleted() {
        answers.onCompleted();
      }
    };
  }

  private boolean take(URLInfo info) {
    if (!seen.add(info.getUrl())) return false;
    queues.computeIfAbsent(info.getKey(), key -> new Queue()).waiting.add(info.getUrl());
    return true;
  }

  private boolean finish(URLInfo info) {
    queues.get(info.getKey()).underWay--;
    return true;
  }

  public void getURLs(GetParams wanted, StreamObserver<URLInfo> answers) {
    int most = wanted.maxUrlsPerQueue == 0 ? Integer.MAX_VALUE : wanted.maxUrlsPerQueue;
    int left = wanted.maxQueues;
    for (Queue queue : queues.values()) {
      if (left == 0) break;
      if (queue.hasGiven || queue.underWay >= most || queue.waiting.isEmpty()) continue;
      for (int count = 0; count < most && !queue.waiting.isEmpty(); count++) {
        answers.onNext(URLInfo.newBuilder().setUrl(queue.waiting.poll()));
        queue.underWay++;
      }
      queue.hasGiven = true;
      left--;
    }
    answers.onCompleted();
  }

  public void close() {}
}

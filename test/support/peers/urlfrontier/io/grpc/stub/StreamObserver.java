package io.grpc.stub;

/** A stand-in: who is told of answers. */
public interface StreamObserver<T> {
  void onNext(T value);

  void onError(Throwable cause);

  void onCompleted();
}

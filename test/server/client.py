"""A small crawl by a client in another language: client.py <folder of stubs> <host:port>, answers JSON."""
import json
import sys
import time

sys.path.insert(0, sys.argv[1])
import grpc  # noqa: E402
import urlfrontier_pb2 as pb  # noqa: E402
import urlfrontier_pb2_grpc as rpc  # noqa: E402

stub = rpc.URLFrontierStub(grpc.insecure_channel(sys.argv[2]))
STATUS = pb.AckMessage.Status.Name


def info(url, **metadata):
    made = pb.URLInfo(url=url)
    for key, values in metadata.items():
        made.metadata[key].values.extend(values)
    return made


def found(url, id=""):
    return pb.URLItem(ID=id, discovered=pb.DiscoveredURLItem(info=info(url)))


def known(url, date, id="", **metadata):
    item = pb.KnownURLItem(info=info(url, **metadata), refetchable_from_date=date)
    return pb.URLItem(ID=id, known=item)


later = int(time.time()) + 3600
acks = stub.PutURLs(
    iter([found("http://a.com/1", "1"), found("http://a.com/2"), found("http://a.com/1", "3"), known("http://b.com/", later, "4")])
)
answer = {"acks": [[ack.ID, STATUS(ack.status)] for ack in acks]}
batch = pb.DiscoveredBatch(ID="b", items=[info("http://a.com/3"), info("http://a.com/3")])
(batch_ack,) = stub.PutDiscovered(iter([batch]))
answer["batch"] = [batch_ack.ID, [STATUS(status) for status in batch_ack.statuses]]

stub.SetDelay(pb.QueueDelayParams(key="", delay_requestable=0))
crawled, end = 0, time.time() + 60
while crawled < 42 and time.time() < end:
    for url in stub.GetURLs(pb.GetParams(max_urls_per_queue=20)):
        crawled += 1
        links = [found("http://a.com/%d" % n) for n in range(1, 42)]
        list(stub.PutURLs(iter(links + [known(url.url, 0, **{"from": ["a", "b"]})])))
    if stub.GetStats(pb.QueueWithinCrawlParams(key="a.com")).size == 0:
        break
    time.sleep(0.1)
answer["crawled"] = crawled
status = stub.GetURLStatus(pb.URLStatusRequest(url="http://a.com/7"))
answer["metadata"] = {key: list(value.values) for key, value in status.known.info.metadata.items()}
list(stub.PutURLs(iter([known("http://a.com/0", 0)])))
stats = stub.GetStats(pb.QueueWithinCrawlParams())
answer["stats"] = {
    "size": stats.size,
    "inProcess": stats.inProcess,
    "completed": stats.counts["completed"],
    "queues": stats.numberOfQueues,
}
answer["queues"] = list(stub.ListQueues(pb.Pagination()).values)
try:
    stub.GetURLStatus(pb.URLStatusRequest(url="http://a.com/none"))
except grpc.RpcError as error:
    answer["missing"] = error.code().name
answer["listed"] = len(list(stub.ListURLs(pb.ListUrlParams(size=1000))))
print(json.dumps(answer))

"""Every call of an older version of the protocol: old_client.py <folder of stubs> <host:port>, answers JSON."""
import json
import sys

sys.path.insert(0, sys.argv[1])
import grpc  # noqa: E402
import urlfrontier_pb2 as pb  # noqa: E402
import urlfrontier_pb2_grpc as rpc  # noqa: E402

stub = rpc.URLFrontierStub(grpc.insecure_channel(sys.argv[2]))
is_oldest = not hasattr(pb, "Long")
String = pb.String if is_oldest else pb.DeleteCrawlMessage


def info(url, **values):
    made = pb.URLInfo(url=url, **values)
    made.metadata["from"].values.extend(["x"])
    return made


def found(url, **values):
    return pb.URLItem(discovered=pb.DiscoveredURLItem(info=info(url, **values)))


def known(url, date):
    return pb.URLItem(known=pb.KnownURLItem(info=info(url), refetchable_from_date=date))


def ack(message):
    if is_oldest:
        return message.value
    return [message.ID, pb.AckMessage.Status.Name(message.status)]


def put(*items):
    return [ack(message) for message in stub.PutURLs(iter(items))]


def get(**params):
    return [[one.url, one.key, one.crawlID, dict((k, list(v.values)) for k, v in one.metadata.items())] for one in stub.GetURLs(pb.GetParams(**params))]


queue = pb.QueueWithinCrawlParams(key="a.com")
answer = {"acks": put(*[found("http://a.com/%d" % n) for n in (1, 2, 3, 1)], found("http://b.com/1", key="named"), found("http://a.com/1", crawlID="other"))}
answer["crawls"] = list(stub.ListCrawls(pb.Empty() if is_oldest else pb.Local()).values)
page = stub.ListQueues(pb.Pagination(size=1, start=1))
answer["page"] = [list(page.values), page.start, page.size, page.crawlID]
answer["one"] = get(max_urls_per_queue=1, max_queues=1, crawlID="DEFAULT")
answer["other"] = get(max_queues=1, crawlID="other")
answer["done"] = put(known("http://a.com/1", 0), known("http://a.com/2", 4000000000))
stats = stub.GetStats(queue)
answer["stats"] = [stats.size, stats.inProcess, dict(stats.counts), stats.numberOfQueues, stats.crawlID]
stub.SetDelay(pb.QueueDelayParams(key="a.com", delay_requestable=0))
stub.BlockQueueUntil(pb.BlockQueueParams(key="named", time=4000000000))
Active = pb.Boolean if is_oldest else pb.Active
stub.SetActive(Active(state=False))
answer["idle"] = [stub.GetActive(pb.Empty() if is_oldest else pb.Local()).state, get()]
stub.SetActive(Active(state=True))
stub.SetLogLevel(pb.LogLevelParams(package="a", level=pb.LogLevelParams.DEBUG))
answer["queues"] = [list(stub.ListQueues(pb.Pagination(include_inactive=all)).values) for all in (False, True)]
answer["nodes"] = len(stub.ListNodes(pb.Empty()).values)
if hasattr(stub, "GetURLStatus"):
    stub.SetCrawlLimit(pb.CrawlLimitParams(key="a.com", limit=1))
    answer["limited"] = get(key="a.com", crawlID="DEFAULT")
    status = stub.GetURLStatus(pb.URLStatusRequest(url="http://a.com/2"))
    answer["status"] = [status.known.info.url, status.known.refetchable_from_date]
    answer["listed"] = len(list(stub.ListURLs(pb.ListUrlParams(key="a.com"))))
answer["deleted"] = [stub.DeleteQueue(queue).value, stub.DeleteCrawl(String(value="other")).value]
print(json.dumps(answer))

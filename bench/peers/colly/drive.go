// Takes colly's queue through the steps of bench/peers/driver.ts.
//
//	drive memory <workload> <file for polled URLs> <directory>
//
// Links go in with AddURL, which parses and serializes a request, after the collector's storage has been asked whether it was visited:
// the queue itself refuses nothing. They come out of the queue's storage and are unmarshalled by the collector, as Run does it before
// it fetches. There is no acknowledgement and, in memory, no directory.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/gocolly/colly/v2"
	"github.com/gocolly/colly/v2/queue"
	"github.com/gocolly/colly/v2/storage"
)

const call = 1000

func main() {
	if len(os.Args) < 4 || os.Args[1] != "memory" {
		fail("drive: %v (expected: memory <workload> <polled> <directory>)", os.Args[1:])
	}
	begin := time.Now()
	store := &queue.InMemoryQueueStorage{MaxSize: 0}
	links, err := queue.New(1, store)
	must(err)
	visited := &storage.InMemoryStorage{}
	must(visited.Init())
	collector := colly.NewCollector()
	opened := time.Since(begin)
	rest := status("VmRSS:")

	var pushed, accepted int
	var pushing, longest time.Duration
	each(os.Args[2], func(urls []string) {
		begin := time.Now()
		for _, url := range urls {
			hash := fnv.New64a()
			hash.Write([]byte(url))
			id := hash.Sum64()
			if was, _ := visited.IsVisited(id); was {
				continue
			}
			must(visited.Visited(id))
			must(links.AddURL(url))
			accepted++
		}
		spent := time.Since(begin)
		pushing += spent
		if spent > longest {
			longest = spent
		}
		pushed += len(urls)
	})
	full := status("VmRSS:")

	polled := make([]*colly.Request, 0, accepted)
	begin = time.Now()
	for {
		data, err := store.GetRequest()
		if err != nil || data == nil {
			break
		}
		request, err := collector.UnmarshalRequest(data)
		must(err)
		polled = append(polled, request)
	}
	polling := time.Since(begin)

	out, err := os.Create(os.Args[3])
	must(err)
	writer := bufio.NewWriter(out)
	for _, request := range polled {
		fmt.Fprintln(writer, request.URL.String())
	}
	must(writer.Flush())
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	answer, err := json.Marshal(map[string]interface{}{
		"title":  "colly's queue, " + runtime.Version(),
		"pushed": pushed, "accepted": accepted, "polled": len(polled),
		"pushNs": pushing.Nanoseconds(), "pollNs": polling.Nanoseconds(), "openNs": opened.Nanoseconds(),
		"restBytes": rest, "fullBytes": full, "peakBytes": status("VmHWM:"),
		"longestCallNs": longest.Nanoseconds(), "longestGcNs": longestPause(&memory),
	})
	must(err)
	fmt.Println(string(answer))
}

// The URLs of a workload file, in calls of 1,000.
func each(path string, work func(urls []string)) {
	file, err := os.Open(path)
	must(err)
	defer file.Close()
	lines := bufio.NewReaderSize(file, 1<<20)
	if magic := next(lines); magic != "outrider-workload 1" {
		fail("%s: begins %s", path, magic)
	}
	var head struct{ Urls int }
	must(json.Unmarshal([]byte(next(lines)), &head))
	urls := make([]string, 0, call)
	for left := head.Urls; left > 0; left-- {
		urls = append(urls, next(lines))
		if len(urls) == call || left == 1 {
			work(urls)
			urls = urls[:0]
		}
	}
}

func next(lines *bufio.Reader) string {
	line, err := lines.ReadString('\n')
	must(err)
	return strings.TrimSuffix(line, "\n")
}

// The longest of the last 256 times that everything stood still.
func longestPause(memory *runtime.MemStats) uint64 {
	var longest uint64
	for _, pause := range memory.PauseNs {
		if pause > longest {
			longest = pause
		}
	}
	return longest
}

func status(field string) int {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(data), "\n") {
		if strings.HasPrefix(line, field) {
			kilobytes, _ := strconv.Atoi(strings.Fields(line)[1])
			return kilobytes * 1024
		}
	}
	return 0
}

func must(err error) {
	if err != nil {
		fail("%v", err)
	}
}

func fail(format string, words ...interface{}) {
	fmt.Fprintf(os.Stderr, format+"\n", words...)
	os.Exit(1)
}

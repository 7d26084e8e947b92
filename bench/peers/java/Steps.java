import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The steps of bench/peers/driver.ts for frontiers in Java.
 *
 *   Drive memory | fill | resume  workload  file for polled URLs  directory
 *
 * What a frontier does not have it answers with false: `done` then has no time.
 */
final class Steps {
  interface Frontier {
    /** With a directory to keep in, or "" for memory only. */
    void open(String directory) throws Exception;

    /** Hands in URLs; how many were new. */
    int push(List<String> urls) throws Exception;

    /** Up to `most` to work on; none when there are no more. */
    List<String> poll(int most) throws Exception;

    /** Says that they are finished; false where there is no such word. */
    boolean done(List<String> urls) throws Exception;

    void close() throws Exception;
  }

  private static final int CALL = 1_000;
  private static final Pattern PAUSE = Pattern.compile(" Pause .* (\\d+\\.\\d+)ms$");

  private Steps() {}

  static void drive(String title, Frontier frontier, String[] words) throws Exception {
    String mode = words[0];
    long begin = System.nanoTime();
    frontier.open(mode.equals("memory") ? "" : words[3]);
    long openNs = System.nanoTime() - begin;
    long rest = status("VmRSS:");
    long[] pushed = mode.equals("resume") ? new long[4] : pushAll(frontier, Path.of(words[1]));
    long full = status("VmRSS:");
    int most = mode.equals("fill") ? (int) (pushed[1] / 2) : Integer.MAX_VALUE;
    List<String> polled = new ArrayList<>();
    long pollNs = 0;
    while (polled.size() < most) {
      begin = System.nanoTime();
      List<String> some = frontier.poll(Math.min(CALL, most - polled.size()));
      pollNs += System.nanoTime() - begin;
      if (some.isEmpty()) break;
      polled.addAll(some);
    }
    long doneNs = doneAll(frontier, polled);
    try (PrintWriter out = new PrintWriter(words[2], StandardCharsets.US_ASCII)) {
      for (String url : polled) out.print(url + "\n");
    }
    System.out.printf(
        "{\"title\":\"%s\",\"pushed\":%d,\"accepted\":%d,\"polled\":%d,\"pushNs\":%d,\"pollNs\":%d,",
        title, pushed[0], pushed[1], polled.size(), pushed[2], pollNs);
    if (doneNs >= 0) System.out.printf("\"doneNs\":%d,", doneNs);
    System.out.printf(
        "\"openNs\":%d,\"restBytes\":%d,\"fullBytes\":%d,\"peakBytes\":%d,\"longestCallNs\":%d,",
        openNs, rest, full, status("VmHWM:"), pushed[3]);
    System.out.printf("\"longestGcNs\":%d}%n", longestPause());
    System.out.flush();
    if (mode.equals("fill")) killItself();
    frontier.close();
    System.exit(0);
  }

  /** How many were pushed and accepted, the time of it, the longest call. */
  private static long[] pushAll(Frontier frontier, Path workload) throws Exception {
    long[] sums = new long[4];
    try (BufferedReader lines = Files.newBufferedReader(workload, StandardCharsets.US_ASCII)) {
      String magic = lines.readLine();
      if (!"outrider-workload 1".equals(magic)) throw new IOException(workload + ": begins " + magic);
      long left = numberIn(lines.readLine(), "urls");
      while (left > 0) {
        List<String> urls = new ArrayList<>(CALL);
        for (; left > 0 && urls.size() < CALL; left--) urls.add(lines.readLine());
        long begin = System.nanoTime();
        sums[1] += frontier.push(urls);
        long spent = System.nanoTime() - begin;
        sums[0] += urls.size();
        sums[2] += spent;
        sums[3] = Math.max(sums[3], spent);
      }
    }
    return sums;
  }

  /** Nanoseconds, or less than 0 where the frontier has no such word. */
  private static long doneAll(Frontier frontier, List<String> polled) throws Exception {
    long spent = 0;
    for (int from = 0; from < polled.size(); from += CALL) {
      List<String> some = polled.subList(from, Math.min(from + CALL, polled.size()));
      long begin = System.nanoTime();
      if (!frontier.done(some)) return -1;
      spent += System.nanoTime() - begin;
    }
    return spent;
  }

  /** A whole number of the workload's head, which is one object of JSON in a line. */
  private static long numberIn(String head, String name) throws IOException {
    int at = head.indexOf("\"" + name + "\":");
    if (at < 0) throw new IOException("workload: no " + name + " in " + head);
    int from = at + name.length() + 3;
    int to = from;
    while (to < head.length() && Character.isDigit(head.charAt(to))) to++;
    return Long.parseLong(head.substring(from, to));
  }

  private static long status(String field) throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/status")))
      if (line.startsWith(field)) return Long.parseLong(line.split("\\s+")[1]) * 1024;
    return 0;
  }

  /** Of the pauses in the machine's own log, which peer.ts asks for in a file named after this process. */
  private static long longestPause() throws IOException {
    Path log = Path.of(System.getProperty("bench.gc") + ProcessHandle.current().pid() + ".log");
    double longestMs = 0;
    for (String line : Files.readAllLines(log)) {
      Matcher pause = PAUSE.matcher(line);
      if (pause.find()) longestMs = Math.max(longestMs, Double.parseDouble(pause.group(1)));
    }
    Files.delete(log);
    return (long) (longestMs * 1e6);
  }

  private static void killItself() throws Exception {
    String own = String.valueOf(ProcessHandle.current().pid());
    new ProcessBuilder("kill", "-9", own).start().waitFor();
    Thread.sleep(60_000);
  }
}

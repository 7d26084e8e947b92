import crawlercommons.urlfrontier.service.memory.MemoryFrontierService;
import io.grpc.BindableService;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import java.lang.reflect.Constructor;
import java.net.InetSocketAddress;

/** URLFrontier's memory service on loopback, as it is when nothing is configured. Prints its port, and ends with its input. */
final class Serve {
  public static void main(String[] words) throws Exception {
    Server server =
        NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0))
            .addService((BindableService) serviceOf())
            .build()
            .start();
    System.out.println(server.getPort());
    while (System.in.read() >= 0) {}
    System.exit(0);
  }

  private static Object serviceOf() throws Exception {
    for (Constructor<?> each : MemoryFrontierService.class.getConstructors())
      if (each.getParameterCount() == 2) return each.newInstance("localhost", 0);
    return MemoryFrontierService.class.getConstructor().newInstance();
  }
}

import { describe, expect, it } from "vitest";
import { registrableDomain } from "../../../../src/url/parsing/registrable-domain.ts";

describe("registrableDomain", () => {
  it("is the public suffix and one label", () => {
    expect(registrableDomain("cn.bing.com")).toBe("bing.com");
    expect(registrableDomain("a.b.baidu.com")).toBe("baidu.com");
    expect(registrableDomain("www.foo.co.uk")).toBe("foo.co.uk");
    expect(registrableDomain("foo.co.uk")).toBe("foo.co.uk");
    expect(registrableDomain("example.dev")).toBe("example.dev");
    expect(registrableDomain("a.xn--fiqs8s")).toBe("a.xn--fiqs8s");
    expect(registrableDomain("x.alice.github.io")).toBe("alice.github.io");
    expect(registrableDomain("a_b.example.com")).toBe("example.com");
  });

  it("ignores ports", () => {
    expect(registrableDomain("www.example.com:8080")).toBe("example.com");
    expect(registrableDomain("127.0.0.1:80")).toBe("127.0.0.1");
    expect(registrableDomain("[::1]:80")).toBe("[::1]");
  });

  it("is the address for an address, and takes no name for one", () => {
    expect(registrableDomain("127.0.0.1")).toBe("127.0.0.1");
    expect(registrableDomain("[2001:db8::1]")).toBe("[2001:db8::1]");
    expect(registrableDomain("1.2.3.4.evil.com")).toBe("evil.com");
  });

  it("is the last two labels where no suffix is known", () => {
    expect(registrableDomain("db.intra.corp-x")).toBe("intra.corp-x");
  });

  it("is the host itself where it is one label or a suffix", () => {
    expect(registrableDomain("localhost")).toBe("localhost");
    expect(registrableDomain("localhost:3000")).toBe("localhost");
    expect(registrableDomain("co.uk")).toBe("co.uk");
    expect(registrableDomain("com")).toBe("com");
  });

  it("takes the host of a trailing dot for the same owner, and every text for something", () => {
    expect(registrableDomain("www.example.com.")).toBe("example.com");
    for (const text of ["", ".", "..", ":", "[", "[]", "a..b", "%", "\u0000"])
      expect(typeof registrableDomain(text)).toBe("string");
  });
});

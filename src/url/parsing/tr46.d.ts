/** The part of npm tr46 that this room uses; the package ships no types. */
declare module "tr46" {
  export interface Tr46Options {
    checkBidi?: boolean;
    checkHyphens?: boolean;
    checkJoiners?: boolean;
    ignoreInvalidPunycode?: boolean;
    transitionalProcessing?: boolean;
    useSTD3ASCIIRules?: boolean;
    verifyDNSLength?: boolean;
  }
  const tr46: {
    toASCII(domain: string, options: Tr46Options): string | null;
    toUnicode(domain: string, options: Tr46Options): { domain: string; error: boolean };
  };
  export default tr46;
}

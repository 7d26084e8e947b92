/** The SVG of docs/picture.svg. */
export const picture: string;

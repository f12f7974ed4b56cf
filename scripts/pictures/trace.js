/**
 * What a page looks like, as shapes: runs in the browser, in the page. Coordinates are pixels from the page's upper left corner.
 */
(() => {
  const shapes = [];
  const measure = document.createElement('canvas').getContext('2d');
  const isClear = (colour) => colour === 'transparent' || /^rgba\(.*, 0\)$/.test(colour);
  const box = (rect) => ({ x: rect.left + scrollX, y: rect.top + scrollY, width: rect.width, height: rect.height });
  const isOut = (rect) => rect.right <= 0 || rect.width === 0 || rect.height === 0;

  function paint(element) {
    const rect = element.getBoundingClientRect();
    if (isOut(rect)) return;
    const style = getComputedStyle(element);
    const { x, y, width, height } = box(rect);
    const radius = Math.min(parseFloat(style.borderTopLeftRadius) || 0, height / 2);
    if (element instanceof SVGRectElement)
      return void shapes.push({ shape: 'box', x, y, width, height, fill: style.fill, radius: 0 });
    if (!isClear(style.backgroundColor))
      shapes.push({ shape: 'box', x, y, width, height, fill: style.backgroundColor, radius });
    if (style.display === 'list-item' && style.listStyleType === 'disc') {
      shapes.push({ shape: 'box', x: x - 15, y: y + 10, width: 5, height: 5, fill: style.color, radius: 2.5 });
    }
    const sides = {
      Top: { x, y, width, height: parseFloat(style.borderTopWidth) },
      Left: { x, y, width: parseFloat(style.borderLeftWidth), height },
      Bottom: {
        x,
        y: y + height - parseFloat(style.borderBottomWidth),
        width,
        height: parseFloat(style.borderBottomWidth),
      },
      Right: {
        x: x + width - parseFloat(style.borderRightWidth),
        y,
        width: parseFloat(style.borderRightWidth),
        height,
      },
    };
    for (const [side, line] of Object.entries(sides)) {
      if (style[`border${side}Style`] === 'none' || line.width === 0 || line.height === 0) continue;
      shapes.push({ shape: 'box', ...line, fill: style[`border${side}Color`], radius: 0 });
    }
  }

  function write(node) {
    const style = getComputedStyle(node.parentElement);
    // The shorthand is empty if it cannot say everything, such as figures of one width.
    measure.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    const ascent = measure.measureText('x').fontBoundingBoxAscent;
    const range = document.createRange();
    let line = null;
    // Lines are broken at spaces and behind dashes.
    for (const { 0: part, index } of node.data.matchAll(/\s+|[^\s-]*-|[^\s-]+/g)) {
      if (part.trim() === '') {
        if (line !== null) line.text += ' ';
        continue;
      }
      range.setStart(node, index);
      range.setEnd(node, index + part.length);
      const rect = range.getBoundingClientRect();
      if (isOut(rect)) continue;
      const { x, y, width } = box(rect);
      if (line !== null && Math.abs(line.top - y) < 2) {
        line.text += part;
        line.width = x + width - line.x;
        continue;
      }
      const { color, fontSize, fontWeight, fontFamily } = style;
      line = {
        shape: 'text',
        x,
        top: y,
        y: y + ascent,
        width,
        text: part,
        fill: color,
        size: parseFloat(fontSize),
        weight: fontWeight,
        isCode: fontFamily.includes('monospace'),
        isUnderlined: node.parentElement.closest('a') !== null && node.parentElement.closest('.badge') === null,
      };
      shapes.push(line);
    }
  }

  function walk(node) {
    if (node instanceof Text) return write(node);
    if (!(node instanceof Element) || node.matches('script, style, .skip, title')) return;
    paint(node);
    for (const child of node.childNodes) walk(child);
  }

  walk(document.body);
  const { scrollHeight: height } = document.documentElement;
  return { width: innerWidth, height, ground: getComputedStyle(document.body).backgroundColor, shapes };
})();

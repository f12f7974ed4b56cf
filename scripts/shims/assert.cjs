/** In place of `node:assert`, where a library calls nothing of it but the function itself. */
module.exports = (value, message) => {
  if (!value) throw new Error(message);
};

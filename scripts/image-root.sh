#!/bin/sh
# Assembles the root directory of the image: image-root.sh NODE BUNDLES TARGET [PROGRAM]
# NODE is the node binary to ship (stripped here), BUNDLES the directory that scripts/build.ts wrote. PROGRAM is one more to
# ship where it is: /usr/bin/ssh, for repositories that are read over ssh.
set -eu
node=$1 bundles=$2 target=$3 program=${4:-}

mkdir -p "$target/usr/bin" "$target/app" "$target/etc" "$target/tmp"
chmod 1777 "$target/tmp"
cp "$node" "$target/usr/bin/node"
strip --strip-unneeded "$target/usr/bin/node"

if [ -n "$program" ]; then
  mkdir -p "$target$(dirname "$program")"
  cp -L "$program" "$target$program"
fi

# Every library that they link, and the loader, where the loader looks for them.
for binary in "$node" $program; do ldd "$binary"; done | awk '/=> \//{print $3} $1 ~ /^\//{print $1}' | while read -r library; do
  mkdir -p "$target$(dirname "$library")"
  cp -L "$library" "$target$library"
done

cp -R "$bundles/." "$target/app/"
printf 'root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n' >"$target/etc/passwd"
printf 'root:x:0:\nnonroot:x:65532:\n' >"$target/etc/group"

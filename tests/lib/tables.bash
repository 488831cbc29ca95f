# Tables that scripts write into documents, between a comment that names them and one that ends them.
# shellcheck shell=bash

# table_put FILE NAME: standard input takes the place of what stands between <!-- NAME --> and <!-- end -->.
table_put() {
	{ sed "/^<!-- $2 -->\$/q" "$1" && cat && sed -n '/^<!-- end -->$/,$p' "$1"; } >"$1.new"
	mv "$1.new" "$1"
}

# table_get FILE NAME: prints that.
table_get() {
	sed -n "/^<!-- $2 -->\$/,/^<!-- end -->\$/p" "$1" | sed '1d;$d'
}

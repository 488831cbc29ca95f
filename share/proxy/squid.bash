# squid's configuration, and what is printed of its log. Sourced by lodger-proxy, run as root; what comes
# through the log is sessions' own words.
# shellcheck shell=bash

# Where no name may lead: this host, its networks, and what is nobody's (the IANA's registries of
# special-purpose addresses), and addresses that stand for IPv4 ones, but for ::ffff:0:0/96, as which squid itself
# keeps IPv4's: it would take that for all of them. Documentation's are left: they lead nowhere.
readonly INNER=(0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
	192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 224.0.0.0/4 240.0.0.0/4)
readonly INNER6=(::/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 2001::/32 2002::/16 fc00::/7
	fe80::/10 fec0::/10 ff00::/8)
# Lines that are printed for one session in a minute.
readonly PRINTED=60

# The host's own addresses, of when squid is started, but for those that are refused as it is, about which
# squid would complain.
addresses_own() {
	ip -oneline address show scope global | awk '{ sub("/.*", "", $4); print $4 }' |
		{ grep -vE '^(10|127|169\.254|192\.168|172\.(1[6-9]|2[0-9]|3[01]))\.|^f[cde]' || true; }
}

# squid_rules: an `acl allowed` for each port of RULES: https by CONNECT, http by the rest.
squid_rules() {
	local rule port
	local -A hosts=()
	for rule in "${RULES[@]}"; do
		hosts[${rule#* }]+=" ${rule% *}"
	done
	for port in "${!hosts[@]}"; do
		echo "acl hosts$port dstdomain -n${hosts[$port]}"
		echo "acl port$port port $port"
		if [[ $port != 80 ]]; then
			echo "acl tunnel$port all-of connect port$port hosts$port"
			echo "acl allowed any-of tunnel$port"
		fi
		if [[ $port != 443 ]]; then
			echo "acl plain$port all-of plain port$port hosts$port"
			echo "acl allowed any-of plain$port"
		fi
	done
}

# squid_configuration PORT KEY
squid_configuration() {
	local address=${2% *} key_port=${2#* } own
	own=$(addresses_own)
	cat <<-END
		# Written by lodger-proxy at each start.
		http_port 127.0.0.1:$1 require-proxy-header
		proxy_protocol_access allow all

		# What the relay says before a connection: none but it knows this.
		acl key_address localip $address
		acl key_port localport $key_port
		acl relay all-of key_address key_port

		acl connect method CONNECT
		acl plain_scheme proto HTTP
		acl plain all-of plain_scheme !connect
		$(squid_rules)
	END
	printf 'acl inner dst %s\n' "${INNER[@]}" "${INNER6[@]}" $own
	cat <<-END

		# In this order: a name that is not allowed is not even asked for in the DNS, which would be a way
		# out of its own. What a name leads to is kept a minute at least, so that it is what was looked at.
		http_access deny !relay
		http_access deny !allowed
		http_access deny inner
		http_access allow relay
		http_access deny all
		negative_dns_ttl 60 seconds

		cache deny all
		cache_mem 8 MB
		memory_pools off
		client_db off
		via off
		forwarded_for delete
		pinger_enable off
		max_filedescriptors 8192
		request_start_timeout 1 minute
		half_closed_clients off
		shutdown_lifetime 1 seconds
		visible_hostname lodger-proxy
		pid_filename none
		cache_store_log none
		cache_log /dev/null
		coredump_dir none
		netdb_filename none
		logfile_rotate 0

		logformat refusal %>p %rm %ru
		acl refused http_status 403
		access_log stdio:log logformat=refusal refused
	END
}

# Prints a line for each refusal that squid writes: "SESSION METHOD URL", as the session wrote them.
refusals_print() {
	local number rest now minute=-1
	local -A lines=()
	trap - EXIT
	while read -r number rest; do
		now=$((SECONDS / 60))
		((now == minute)) || lines=()
		minute=$now
		[[ $number =~ ^[0-9]{1,5}$ ]] || number=0
		lines[$number]=$((${lines[$number]:-0} + 1))
		((lines[$number] <= PRINTED)) || continue
		rest=${rest//[^[:print:]]/?}
		say "lodger-$number: refused: ${rest:0:300}"
		((lines[$number] < PRINTED)) || say "lodger-$number: no more of it for a minute"
	done
}

# The derivation of a channel, starter or pinned. The attributes are what channel.sh reads; those that are
# texts without a bound come to it as files.
attributes:
import ./builder.nix "lodger-channel" ./channel.sh (
  attributes
  // {
    passAsFile = [
      "packages"
      "more"
      "lock"
      "default"
      "closure"
      "settings"
    ];
  }
)

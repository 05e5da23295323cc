package config

import (
	"bytes"
	"fmt"
	"math"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"sluice"
)

// Size is a number of bytes, written plain or with KiB, MiB or GiB.
type Size int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Size) UnmarshalText(text []byte) error {
	number, factor := string(text), int64(1)
	for unit, f := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
		if rest, ok := strings.CutSuffix(number, unit); ok {
			number, factor = strings.TrimSpace(rest), f
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/factor {
		return fmt.Errorf("%q is not a size such as 1048576, 512MiB or 2GiB", text)
	}
	*s = Size(n * factor)
	return nil
}

// String returns a size for people, with one digit behind the point.
func (s Size) String() string {
	number, unit := float64(s), ""
	for _, larger := range []string{"KiB", "MiB", "GiB"} {
		if number < 1<<10 {
			break
		}
		number, unit = number/(1<<10), larger
	}
	return strconv.FormatFloat(math.Round(number*10)/10, 'f', -1, 64) + unit
}

// Networks is a list of networks.
type Networks []netip.Prefix

// UnmarshalText implements encoding.TextUnmarshaler.
func (n *Networks) UnmarshalText(text []byte) error {
	*n = nil
	for _, item := range list(text) {
		prefix, err := netip.ParsePrefix(item)
		if addr, e := netip.ParseAddr(item); e == nil {
			prefix, err = addr.Prefix(addr.BitLen())
		}
		if err != nil {
			return fmt.Errorf("%q is not an address or a network such as 10.0.0.0/8", item)
		}
		*n = append(*n, prefix)
	}
	return nil
}

// Headers is a list of header names, in lower case.
type Headers []string

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *Headers) UnmarshalText(text []byte) error {
	*h = list(bytes.ToLower(text))
	return eachIs(*h, sluice.IsHeaderName, "the name of a header such as x-api-key")
}

// Domains is a list of names of this server, in lower case.
type Domains []string

var validDomain = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$`)

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Domains) UnmarshalText(text []byte) error {
	*d = list(bytes.ToLower(text))
	return eachIs(*d, validDomain.MatchString, "the name of a server such as hooks.example.org")
}

// Origins is a list of origins of web pages.
type Origins []string

// UnmarshalText implements encoding.TextUnmarshaler.
func (o *Origins) UnmarshalText(text []byte) error {
	*o = list(text)
	return eachIs(*o, func(origin string) bool {
		u, err := url.Parse(origin)
		return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" &&
			u.Scheme+"://"+u.Host == origin
	}, "an origin such as https://app.example.org")
}

// eachIs refuses the first item of a list that is not what it should be.
func eachIs(items []string, valid func(string) bool, what string) error {
	for _, item := range items {
		if !valid(item) {
			return fmt.Errorf("%q is not %s", item, what)
		}
	}
	return nil
}

// list splits a comma-separated list.
func list(text []byte) []string {
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == ',' || r == ' ' })
}

package outward

import (
	"net/netip"
	"testing"
)

// TestAddresses: the Internet may be called and what the operator allows, and nothing else, in
// whatever form an address comes.
func TestAddresses(t *testing.T) {
	networks := []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00:1::/32"), netip.MustParsePrefix("64:ff9b:1::/48")}
	tests := map[string]bool{
		"93.184.215.14":                   true,
		"1.1.1.1":                         true,
		"172.15.255.255":                  true,
		"172.32.0.0":                      true,
		"100.63.255.255":                  true,
		"100.128.0.0":                     true,
		"2606:2800:21f:cb07:6820::1":      true,
		"2a00:1450:4001:80b::200e":        true,
		"::ffff:93.184.215.14":            true,
		"64:ff9b::5db8:d70e":              true, // 93.184.215.14 by NAT64
		"10.1.2.3":                        true, // the operator allows these
		"::ffff:10.1.2.3":                 true,
		"64:ff9b::a01:203":                true,
		"fd00:1::5":                       true,
		"64:ff9b:1::1":                    true,
		"10.2.0.1":                        false,
		"127.0.0.1":                       false,
		"127.255.255.254":                 false,
		"0.0.0.0":                         false,
		"0.1.2.3":                         false,
		"10.0.0.1":                        false,
		"100.64.0.1":                      false,
		"100.100.100.200":                 false, // metadata of a cloud
		"168.63.129.16":                   false, // the same
		"169.254.169.254":                 false, // the same
		"192.0.0.192":                     false, // the same
		"fd00:ec2::254":                   false, // the same
		"172.16.0.1":                      false,
		"172.31.255.255":                  false,
		"192.0.2.1":                       false,
		"192.88.99.1":                     false,
		"192.168.1.1":                     false,
		"198.18.0.1":                      false,
		"198.19.255.255":                  false,
		"198.51.100.1":                    false,
		"203.0.113.1":                     false,
		"224.0.0.1":                       false,
		"239.255.255.255":                 false,
		"240.0.0.1":                       false,
		"255.255.255.255":                 false,
		"::":                              false,
		"::1":                             false,
		"::127.0.0.1":                     false,
		"::93.184.215.14":                 false,
		"::ffff:127.0.0.1":                false,
		"::ffff:169.254.169.254":          false,
		"::ffff:0:127.0.0.1":              false,
		"64:ff9b::7f00:1":                 false, // 127.0.0.1 by NAT64
		"64:ff9b::a9fe:a9fe":              false, // 169.254.169.254 by NAT64
		"64:ff9b:2::1":                    false,
		"100::1":                          false,
		"2001::1":                         false, // Teredo
		"2001:0:5db8:d70e::80ff:fffe":     false, // Teredo to 127.0.0.1
		"2001:2::1":                       false,
		"2001:10::1":                      false,
		"2001:20::1":                      false,
		"2001:db8::1":                     false,
		"2002:7f00:1::":                   false, // 127.0.0.1 by 6to4
		"2002:a00:1::1":                   false, // 10.0.0.1 by 6to4
		"3fff::1":                         false,
		"4000::1":                         false,
		"5f00::1":                         false,
		"fc00::1":                         false,
		"fd12:3456::1":                    false,
		"fe80::1":                         false,
		"fe80::1%eth0":                    false,
		"fec0::1":                         false,
		"ff02::1":                         false,
		"fd00:1::5%eth0":                  true,
		"ffff:ffff:ffff:ffff:ffff:ffff::": false,
	}
	for address, want := range tests {
		if got := Internet(networks).Allows(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: allowed is %t", address, got)
		}
	}
	if (Guard{}).Allows(netip.Addr{}) {
		t.Error("no address at all is allowed")
	}
	for address, want := range map[string]bool{"10.1.2.3": true, "::ffff:10.1.2.3": true, "1.1.1.1": false, "10.2.0.1": false} {
		if got := Only(networks).Allows(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s of the named networks alone: allowed is %t", address, got)
		}
	}
}

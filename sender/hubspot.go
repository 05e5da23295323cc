package sender

import "strings"

// hubspotEscapes returns the escapes that HubSpot writes out before it signs,
// and the characters they stand for.
func hubspotEscapes() (pairs []string) {
	for code, char := range map[string]string{
		"%3A": ":", "%2F": "/", "%3F": "?", "%40": "@", "%21": "!", "%24": "$",
		"%27": "'", "%28": "(", "%29": ")", "%2A": "*", "%2C": ",", "%3B": ";",
	} {
		pairs = append(pairs, code, char, strings.ToLower(code), char)
	}
	return pairs
}

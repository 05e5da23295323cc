package sender

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash/crc32"
	"regexp"
	"time"
)

func newPayPal(secret string, keys Keys) (checker, error) { return paypalCheck{secret, keys}, nil }

type paypalCheck struct {
	webhook string // its id
	keys    Keys
}

// paypalCert excludes all addresses but those of PayPal's certificates.
var paypalCert = regexp.MustCompile(`^https://api(\.sandbox)?\.paypal\.com/v1/notifications/certs/[0-9A-Za-z-]{1,80}$`)

// check ignores the time: PayPal repeats a call for days.
func (p paypalCheck) check(ctx context.Context, c *Call, now time.Time) error {
	var id, at, address, algorithm, signature string
	for name, to := range map[string]*string{
		"Paypal-Transmission-Id": &id, "Paypal-Transmission-Time": &at, "Paypal-Cert-Url": &address,
		"Paypal-Auth-Algo": &algorithm, "Paypal-Transmission-Sig": &signature,
	} {
		var err error
		if *to, err = c.header(name); err != nil {
			return err
		}
	}
	decoded, err := base64.StdEncoding.DecodeString(signature)
	if err != nil || algorithm != "SHA256withRSA" {
		return invalid("The signature is no base64, or not by SHA256withRSA.")
	}
	if !paypalCert.MatchString(address) {
		return invalid("PAYPAL-CERT-URL is no address of PayPal.")
	}
	key, err := certificateKey(ctx, p.keys, address, now)
	if err != nil {
		return err
	}
	digest := sha256.Sum256(fmt.Appendf(nil, "%s|%s|%s|%d", id, at, p.webhook, crc32.ChecksumIEEE(c.Body)))
	if rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], decoded) != nil {
		return invalid("The signature in the header PAYPAL-TRANSMISSION-SIG does not match. Is the signing secret " +
			"the id of the webhook at PayPal?")
	}
	return nil
}

func (paypalCheck) sign(*Call, time.Time) error { return notSignable() }

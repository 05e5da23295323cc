package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"time"
)

const (
	certificateSetting = "tls-cert="
	keySetting         = "tls-key="
)

// anyCertificate trusts whoever answers: that is a process of this run.
var anyCertificate = &tls.Config{InsecureSkipVerify: true}

// measureTLS compares the server with a bare handler, both with HTTPS.
func measureTLS(ctx context.Context, b *bench) error {
	settings, err := b.makeCertificate()
	if err != nil {
		return err
	}
	baseline, err := b.startBaseline(ctx, settings...)
	if err != nil {
		return err
	}
	shipped, err := b.startReceiver(ctx, "sluice", groupCommit, settings...)
	if err != nil {
		return err
	}
	bare := &contender{name: "bare handler, HTTPS", load: shipped.to(baseline.client)}
	sluice := &contender{name: "sluice, HTTPS", load: shipped}
	return b.compare(ctx, []*contender{bare, sluice},
		ratio{"sluice to bare handler, HTTPS", sluice, bare, atLeast(0.55, "0.55")})
}

// makeCertificate writes a certificate, and returns the settings that name it.
func (b *bench) makeCertificate() ([]string, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(30 * 24 * time.Hour),
	}
	public, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	certificate, key := filepath.Join(b.part, "certificate.pem"), filepath.Join(b.part, "key.pem")
	return []string{certificateSetting + certificate, keySetting + key}, errors.Join(err,
		os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: public}), 0o600),
		os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
}

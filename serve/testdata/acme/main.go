// Command acme runs Pebble, an ACME server that others wrote, for tests: with a DNS that
// finds every name on this machine. Its arguments are the ports on which names are checked, by
// HTTP and by TLS. It prints its URL, and ends with its input. /orders counts the orders.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/letsencrypt/challtestsrv"
	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	plain, err := strconv.Atoi(os.Args[1])
	if err != nil {
		return err
	}
	secure, err := strconv.Atoi(os.Args[2])
	if err != nil {
		return err
	}
	dns, err := freePort()
	if err != nil {
		return err
	}
	quiet := log.New(io.Discard, "", 0)
	names, err := challtestsrv.New(challtestsrv.Config{Log: quiet, DNSAddrs: []string{dns}})
	if err != nil {
		return err
	}
	names.SetDefaultDNSIPv4("127.0.0.1")
	names.SetDefaultDNSIPv6("")
	go names.Run()
	// It would wait before it looks, and refuse some requests at random, which then come twice.
	if err := errors.Join(os.Setenv("PEBBLE_VA_NOSLEEP", "1"), os.Setenv("PEBBLE_WFE_NONCEREJECT", "0")); err != nil {
		return err
	}
	store := db.NewMemoryStore()
	authority := ca.New(quiet, store, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {Description: "for tests", ValidityPeriod: 7776000}})
	front := wfe.New(quiet, store, va.New(quiet, plain, secure, false, dns, store), authority, []string{"pebble.letsencrypt.org"}, false, false, 1, 1)
	var orders atomic.Int64
	acme, management := front.Handler(), front.ManagementHandler()
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/order-plz" {
			orders.Add(1)
		}
		acme.ServeHTTP(w, r)
	})
	mux.Handle("/roots/", management)
	mux.HandleFunc("/orders", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, orders.Load()) })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("https://%s\n", listener.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	certificate, err := selfSigned()
	if err != nil {
		return err
	}
	return http.Serve(tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{certificate}}), mux)
}

// selfSigned makes a certificate that nobody trusts: the protocol wants HTTPS.
func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// freePort returns an address on which both TCP and UDP can be had.
func freePort() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

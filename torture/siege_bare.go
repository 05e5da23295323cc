package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// barePart is the server of negative controls: what net/http and libraries do without bounds
// of ours.
const barePart = "bare"

// runBare serves what attackers and good callers of a siege ask for.
func runBare(flags map[string]string) error {
	schemas := make([]*jsonschema.Schema, len(costlyChecks))
	for i, c := range costlyChecks {
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(c.schema))
		if err != nil {
			return err
		}
		compiler := jsonschema.NewCompiler()
		if err := compiler.AddResource("schema", document); err != nil {
			return err
		}
		if schemas[i], err = compiler.Compile("schema"); err != nil {
			return err
		}
	}
	http.HandleFunc("POST "+receivePath, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // of a caller who has gone, otherwise
		if i, err := strconv.Atoi(r.Header.Get("Token")); err == nil {
			if document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(body))); err == nil {
				_ = schemas[i].Validate(document) // the answer is not asked for
			}
		}
	})
	http.HandleFunc("POST /api/v3/command/convert.fromYaml", func(_ http.ResponseWriter, r *http.Request) {
		var params struct {
			Input string `json:"input"`
		}
		var node yaml.Node
		_ = json.NewDecoder(r.Body).Decode(&params)
		_ = yaml.Unmarshal([]byte(params.Input), &node)
	})
	http.HandleFunc("POST /api/v3/pipeline", func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // from then on it is noticed that the caller has gone
		for string(body) == computing && r.Context().Err() == nil {
		}
	})
	document := strings.Repeat("x", 4*mebibyte)
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, document) })
	listener, err := net.Listen("tcp", flags["listen"])
	if err != nil {
		return err
	}
	server := &http.Server{}
	if flags["tls-cert"] == "" {
		fmt.Printf("bare listens on http://%s \n", listener.Addr())
		return server.Serve(listener)
	}
	fmt.Printf("bare listens on https://%s \n", listener.Addr())
	return server.ServeTLS(listener, flags["tls-cert"], flags["tls-key"])
}

// selfSigned makes a certificate and its key, in a new folder.
func selfSigned(dir string) (certificate, key string, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "besieged"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		return "", "", err
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return "", "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", "", err
	}
	certificate, key = filepath.Join(dir, "certificate.pem"), filepath.Join(dir, "key.pem")
	if err := os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}),
		0o600); err != nil {
		return "", "", err
	}
	return certificate, key,
		os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}), 0o600)
}

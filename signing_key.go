package sluice

import "time"

// A SigningKey signs access tokens.
type SigningKey struct {
	ID      string    `json:"id"`
	Private []byte    `json:"private"` // PKCS #8
	Created time.Time `json:"created"`
}

// A CertificateRecord is what the service stores to speak HTTPS under its own names: certificates
// with their keys, its account at the ACME server, and answers to that server's challenges.
type CertificateRecord struct {
	Name    string `json:"name"`
	Content []byte `json:"content"`
}

package trust

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"sluice"
	"sluice/limit"
)

const maxNetworks = 256

// An origin is where the calls of a webhook must come from. The zero value is anywhere.
type origin struct {
	networks []netip.Prefix // none: any
	trusted  *x509.CertPool // nil: no certificate is demanded
	pinned   [][]byte       // those that are demanded themselves
	name     string         // that a certificate must have; "" means any
}

// newOrigin reads what a trust says of it. Errors name the parameter at fault.
func newOrigin(t sluice.Trust) (o origin, err error) {
	if len(t.Allow) > maxNetworks {
		return o, sluice.InvalidParameter("allow", "The parameter allow has more than %d networks.", maxNetworks)
	}
	for _, text := range t.Allow {
		network, err := netip.ParsePrefix(text)
		if address, e := netip.ParseAddr(text); e == nil {
			network, err = address.Prefix(address.BitLen())
		}
		if err != nil {
			return o, sluice.InvalidParameter("allow",
				"The parameter allow must be addresses and networks such as 203.0.113.0/24.")
		}
		o.networks = append(o.networks, network)
	}
	if t.ClientCertificate == "" {
		return o, nil
	}
	o.name, o.trusted = t.ClientName, x509.NewCertPool()
	for rest := []byte(t.ClientCertificate); len(bytes.TrimSpace(rest)) > 0; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil || block.Type != "CERTIFICATE" {
			return o, notCertificates()
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return o, notCertificates()
		}
		if o.trusted.AddCert(certificate); !certificate.IsCA {
			o.pinned = append(o.pinned, certificate.Raw)
		}
	}
	return o, nil
}

func notCertificates() error {
	return sluice.InvalidParameter("clientCertificate",
		"The parameter clientCertificate must be one or more certificates in PEM, and nothing else: no key.")
}

// CheckOrigin rejects a call from elsewhere. shown are its certificates, if they are known
// already. It returns them.
func (g *Trusts) CheckOrigin(of *Trust, r *http.Request, shown [][]byte, at time.Time) ([][]byte, error) {
	o := &of.origin
	if len(o.networks) > 0 {
		address, err := netip.ParseAddr(r.RemoteAddr)
		if err != nil || !limit.Contains(o.networks, address.Unmap()) {
			return shown, sluice.CodeAddressNotAllowed.Errorf(
				"This webhook does not take calls from this address.").
				Because(sentence("The call came from %s, which is in none of the networks of allow. "+
					"If that is a proxy, --trusted-proxies must name it.", r.RemoteAddr))
		}
	}
	if o.trusted == nil {
		return shown, nil
	}
	if shown == nil {
		shown = g.ClientCertificates.certificates(r)
	}
	if len(shown) == 0 {
		return nil, sluice.CodeCertificateMissing.Errorf(
			"This webhook takes calls with a client certificate only; this one has none.").
			Because(sentence("The call came without a client certificate. A proxy in front must ask for it, " +
				"and pass it on in the header that --client-certificate-header names."))
	}
	if err := o.accepts(shown, at); err != nil {
		return shown, sluice.CodeCertificateInvalid.Errorf(
			"The client certificate of this call is not one that this webhook takes.").Because(err)
	}
	return shown, nil
}

// accepts checks a certificate, which comes first, and those between it and its authority.
func (o *origin) accepts(shown [][]byte, now time.Time) error {
	between := x509.NewCertPool()
	var certificate *x509.Certificate
	for i, der := range shown {
		parsed, err := x509.ParseCertificate(der)
		switch {
		case err != nil:
			return sentence("The client certificate can't be read.")
		case i == 0:
			certificate = parsed
		default:
			between.AddCert(parsed)
		}
	}
	// One that is demanded itself may be for any use.
	use := x509.ExtKeyUsageClientAuth
	if slices.ContainsFunc(o.pinned, func(der []byte) bool { return bytes.Equal(der, certificate.Raw) }) {
		use = x509.ExtKeyUsageAny
	}
	_, err := certificate.Verify(x509.VerifyOptions{
		Roots: o.trusted, Intermediates: between, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{use},
	})
	if err != nil {
		return sentence("The client certificate of %s is refused: %w.", certificate.Subject, err)
	}
	named := func(name string) bool { return strings.EqualFold(name, o.name) }
	if o.name != "" && !slices.ContainsFunc(certificate.DNSNames, named) &&
		(len(certificate.DNSNames) > 0 || !named(certificate.Subject.CommonName)) { // RFC 6125, 6.4.4
		return sentence("The client certificate is for %s and the names %q, not for %s.", certificate.Subject,
			certificate.DNSNames, o.name)
	}
	return nil
}

// sentence is an error for the operator to read.
func sentence(format string, args ...any) error { return fmt.Errorf(format, args...) }

// CauseOf returns the sentence for the operator.
func CauseOf(err error) string {
	if cause := errors.Unwrap(sluice.AsError(err)); cause != nil {
		return cause.Error()
	}
	return sluice.AsError(err).Message
}

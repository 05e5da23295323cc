package step

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/http/httptest"
	"net/mail"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"sluice"
)

// A postOffice is an SMTP server on loopback, which takes one mail, or refuses it.
type postOffice struct {
	listener net.Listener
	tls      *tls.Config // nil: it offers no STARTTLS
	refuse   string      // the answer to RCPT; "" takes it
	said     chan []string
}

func newPostOffice(t *testing.T, secure bool, refuse string) (*postOffice, *tls.Config) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	p := &postOffice{listener: listener, refuse: refuse, said: make(chan []string, 1)}
	var trust *tls.Config
	if secure {
		s := httptest.NewTLSServer(nil) // for its certificate
		t.Cleanup(s.Close)
		p.tls = &tls.Config{Certificates: s.TLS.Certificates, MinVersion: tls.VersionTLS12}
		roots := x509.NewCertPool()
		roots.AddCert(s.Certificate())
		trust = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	go p.serve()
	return p, trust
}

func (p *postOffice) serve() {
	conn, err := p.listener.Accept()
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	reader, said := bufio.NewReader(conn), []string{}
	answer := func(lines ...string) { _, _ = io.WriteString(conn, strings.Join(lines, "\r\n")+"\r\n") }
	defer func() { p.said <- said }()
	for answer("220 hello"); ; {
		line, err := reader.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		said = append(said, line)
		verb, _, _ := strings.Cut(line, " ")
		switch {
		case verb == "EHLO" && p.tls != nil:
			answer("250-office", "250-STARTTLS", "250 AUTH PLAIN")
		case verb == "EHLO":
			answer("250-office", "250 AUTH PLAIN")
		case verb == "STARTTLS":
			answer("220 go on")
			conn = tls.Server(conn, p.tls)
			reader, p.tls = bufio.NewReader(conn), nil
		case verb == "AUTH":
			answer("235 welcome")
		case verb == "RCPT" && p.refuse != "":
			answer(p.refuse)
		case verb == "DATA":
			answer("354 go on")
			for {
				line, err := reader.ReadString('\n')
				if err != nil || line == ".\r\n" {
					break
				}
				said = append(said, strings.TrimRight(line, "\r\n"))
			}
			answer("250 taken")
		case verb == "QUIT":
			answer("221 bye")
			return
		default:
			answer("250 ok")
		}
	}
}

func (p *postOffice) options(trust *tls.Config) MailOptions {
	return MailOptions{
		Server: &url.URL{Scheme: "smtp", Host: p.listener.Addr().String(), User: url.UserPassword("sluice", "a secret")}, From: "Sluice <sluice@example.org>",
		AllowNetworks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, TLS: trust,
	}
}

func sendMail(ctx context.Context, o MailOptions, p mailParams) error {
	to, err := p.recipients()
	if err != nil {
		return err
	}
	if err := o.send(ctx, to, p.message(o.From, to, time.Now())); err != nil {
		return o.explain(err)
	}
	return nil
}

// TestMail: the server gets the mail as it was written, over TLS where it offers that.
func TestMail(t *testing.T) {
	for name, secure := range map[string]bool{"in clear on the same machine": false, "with TLS": true} {
		t.Run(name, func(t *testing.T) {
			office, trust := newPostOffice(t, secure, "")
			given := mailParams{To: "Ada <ada@example.com>, bob@example.com", Subject: "Größer = besser", Text: "Hello Ada,\n.\nall is well = gut.\n"}
			if err := sendMail(t.Context(), office.options(trust), given); err != nil {
				t.Fatal(err)
			}
			said := strings.Join(<-office.said, "\r\n")
			for _, want := range []string{"EHLO example.org", "AUTH PLAIN ", "MAIL FROM:<sluice@example.org>", "RCPT TO:<ada@example.com>", "RCPT TO:<bob@example.com>"} {
				if !strings.Contains(said, want) {
					t.Errorf("it was not told %q:\n%s", want, said)
				}
			}
			if strings.Contains(said, "STARTTLS") != secure {
				t.Errorf("it was told %s", said)
			}
			_, data, _ := strings.Cut(said, "DATA\r\n")
			data, _, _ = strings.Cut(data, "\r\nQUIT")
			got, err := mail.ReadMessage(strings.NewReader(data + "\r\n"))
			if err != nil {
				t.Fatal(err)
			}
			subject, err := new(mime.WordDecoder).DecodeHeader(got.Header.Get("Subject"))
			if err != nil || subject != given.Subject || got.Header.Get("To") != `"Ada" <ada@example.com>, <bob@example.com>` || got.Header.Get("Auto-Submitted") != "auto-generated" {
				t.Errorf("the headers are %v, %v", got.Header, err)
			}
			text, _ := io.ReadAll(quotedprintable.NewReader(got.Body))
			if want := strings.ReplaceAll(given.Text, "\n.\n", "\n..\n"); strings.ReplaceAll(string(text), "\r\n", "\n") != want {
				t.Errorf("the text is %q, want %q", text, want)
			}
		})
	}
}

// TestMailRefusals: what can't be sent says why, and nothing slips into the headers.
func TestMailRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		given  mailParams
		refuse string
		alter  func(*MailOptions)
		want   sluice.Code
	}{
		"a header in the subject":   {given: mailParams{To: "a@example.com", Subject: "hi\r\nBcc: eve@example.com"}, want: sluice.CodeParameterInvalid},
		"a header in the address":   {given: mailParams{To: "a@example.com\nBcc: eve@example.com"}, want: sluice.CodeParameterInvalid},
		"a parameter of RCPT":       {given: mailParams{To: `"a> NOTIFY=NEVER"@example.com`}, want: sluice.CodeParameterInvalid},
		"no address":                {given: mailParams{To: "ada"}, want: sluice.CodeParameterInvalid},
		"too many addresses":        {given: mailParams{To: strings.Repeat("a@example.com,", 50) + "b@example.com"}, want: sluice.CodeParameterInvalid},
		"refused for good":          {given: mailParams{To: "a@example.com"}, refuse: "550 nobody", want: sluice.CodeMailRefused},
		"refused for now":           {given: mailParams{To: "a@example.com"}, refuse: "451 later", want: sluice.CodeMailFailed},
		"a network that is private": {given: mailParams{To: "a@example.com"}, alter: func(o *MailOptions) { o.AllowNetworks = nil }, want: sluice.CodeAddressRefused},
		"a server that is not there": {given: mailParams{To: "a@example.com"}, alter: func(o *MailOptions) {
			o.Server = &url.URL{Scheme: "smtps", Host: "127.0.0.1:1"}
		}, want: sluice.CodeMailFailed},
	} {
		t.Run(name, func(t *testing.T) {
			office, trust := newPostOffice(t, false, test.refuse)
			o := office.options(trust)
			if test.alter != nil {
				test.alter(&o)
			}
			if err := sendMail(t.Context(), o, test.given); !test.want.Is(err) || strings.Contains(err.Error(), "a secret") {
				t.Errorf("the error is %v, want %s", err, string(test.want))
			}
		})
	}
	office, _ := newPostOffice(t, false, "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := sendMail(ctx, office.options(nil), mailParams{To: "a@example.com"}); !sluice.CodeMailFailed.Is(err) {
		t.Errorf("a mail of a run that has ended: %v", err)
	}
}

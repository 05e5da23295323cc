package step

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/netip"
	"net/smtp"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"time"

	"sluice"
	"sluice/outward"
)

// MailOptions are what mail.send needs.
type MailOptions struct {
	Server        *url.URL // smtp://user:password@host:587 or smtps://…; nil: no mail is sent
	From          string
	AllowNetworks []netip.Prefix // where the server may be although it is not on the Internet
	TLS           *tls.Config    // nil means the usual one
}

const (
	mailTimeout   = 30 * time.Second
	maxRecipients = 50
	maxSubject    = 500
	maxMail       = 1 << 20
)

type mailParams struct {
	To      string `json:"to" required:"true" doc:"Who gets it: one address, or several separated by commas."`
	Subject string `json:"subject" required:"true" doc:"One line."`
	Text    string `json:"text" required:"true" doc:"The text, plain."`
}

type mailed struct {
	To int `json:"to" doc:"How many addresses the mail server took it for."`
}

func (o MailOptions) mail(ctx context.Context, p mailParams) (done mailed, err error) {
	to, err := p.recipients()
	if err != nil {
		return done, err
	}
	if o.Server == nil {
		return done, sluice.CodeMailUnset.Errorf(
			"This server sends no mail; the operator can set --smtp-url and --mail-from.")
	}
	ctx, cancel := context.WithTimeout(ctx, mailTimeout)
	defer cancel()
	if err = o.send(ctx, to, p.message(o.From, to, time.Now())); err != nil {
		err = o.explain(err)
	}
	sluice.RunFrom(ctx).NoteTarget(o.Server, !sluice.CodeMailFailed.Is(err))
	if err != nil {
		return done, err
	}
	return mailed{len(to)}, nil
}

// checkMail finds what can't work in a mail before a run.
func checkMail(known map[string]any) error {
	p := mailParams{To: "a@example.com"}
	if to, ok := known["to"].(string); ok {
		p.To = to
	}
	p.Subject, _ = known["subject"].(string)
	_, err := p.recipients()
	return err
}

// recipients returns the addresses of a mail, and refuses what would be another header.
func (p mailParams) recipients() (to []*mail.Address, err error) {
	if len(p.Subject) > maxSubject || strings.ContainsAny(p.Subject, "\r\n\x00") {
		return nil, invalid("subject", "must be one line of at most %d bytes", maxSubject)
	}
	if len(p.Text) > maxMail {
		return nil, invalid("text", "must be at most 1 MiB")
	}
	if strings.ContainsAny(p.To, "\r\n\x00") {
		return nil, invalid("to", "must be addresses on one line")
	}
	// An address that needs quotes could end its place in the conversation, and add parameters.
	quoted := func(a *mail.Address) bool { return strings.ContainsAny(a.Address, "<> \"\t") }
	if to, err = mail.ParseAddressList(p.To); err != nil || len(to) > maxRecipients || slices.ContainsFunc(to, quoted) {
		return nil, invalid("to", "must be 1 to %d mail addresses without quotes, separated by commas", maxRecipients)
	}
	return to, nil
}

// message returns the mail as it is sent.
func (p mailParams) message(from string, to []*mail.Address, now time.Time) []byte {
	recipients := make([]string, len(to))
	for i, address := range to {
		recipients[i] = address.String()
	}
	var b bytes.Buffer
	for _, header := range [][2]string{
		{"From", from}, {"To", strings.Join(recipients, ", ")}, {"Subject", mime.QEncoding.Encode("utf-8", p.Subject)},
		{"Date", now.UTC().Format(time.RFC1123Z)}, {
			"Message-ID", "<" + strings.ToLower(rand.Text()) + "@" + domainOf(from) + ">",
		},
		{"Auto-Submitted", "auto-generated"}, {"MIME-Version", "1.0"},
		{"Content-Type", "text/plain; charset=utf-8"}, {"Content-Transfer-Encoding", "quoted-printable"},
	} {
		b.WriteString(header[0] + ": " + header[1] + "\r\n")
	}
	b.WriteString("\r\n")
	body := quotedprintable.NewWriter(&b)
	_, _ = body.Write([]byte(p.Text)) // a buffer takes everything
	_ = body.Close()
	return b.Bytes()
}

func domainOf(address string) string {
	parsed, err := mail.ParseAddress(address)
	if err != nil {
		return "localhost"
	}
	return parsed.Address[strings.LastIndexByte(parsed.Address, '@')+1:]
}

// errUnencrypted is the error of a server that would get the mail in clear.
var errUnencrypted = errors.New("it offers no TLS")

// send hands a mail to the server. It is never sent in clear over a network.
func (o MailOptions) send(ctx context.Context, to []*mail.Address, message []byte) error {
	host := o.Server.Hostname()
	secure := o.Server.Scheme == "smtps"
	port := "587"
	if secure {
		port = "465"
	}
	conn, err := outward.Internet(o.AllowNetworks).
		DialContext(ctx, "tcp", net.JoinHostPort(host, cmp.Or(o.Server.Port(), port)))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })()
	settings := cmp.Or(o.TLS, &tls.Config{MinVersion: tls.VersionTLS12}).Clone()
	settings.ServerName = host
	remote, _ := conn.RemoteAddr().(*net.TCPAddr)
	if secure {
		conn = tls.Client(conn, settings)
	}
	c, err := smtp.NewClient(conn, host)
	if err != nil {
		return err
	}
	if err := c.Hello(domainOf(o.From)); err != nil {
		return err
	}
	if offered, _ := c.Extension("STARTTLS"); offered && !secure {
		if err := c.StartTLS(settings); err != nil {
			return err
		}
	} else if !secure && !remote.IP.IsLoopback() {
		return errUnencrypted
	}
	if password, given := o.Server.User.Password(); given {
		if err := c.Auth(smtp.PlainAuth("", o.Server.User.Username(), password, host)); err != nil {
			return err
		}
	}
	return o.hand(c, to, message)
}

// hand makes the conversation about one mail.
func (o MailOptions) hand(c *smtp.Client, to []*mail.Address, message []byte) error {
	from, err := mail.ParseAddress(o.From)
	if err != nil {
		return err
	}
	if err := c.Mail(from.Address); err != nil {
		return err
	}
	for _, address := range to {
		if err := c.Rcpt(address.Address); err != nil {
			return err
		}
	}
	body, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := body.Write(message); err != nil {
		return err
	}
	if err = body.Close(); err == nil {
		_ = c.Quit() // the server has taken the mail
	}
	return err
}

// explain returns an error without what the mail server said, which may be about others.
func (o MailOptions) explain(err error) error {
	host := o.Server.Hostname()
	if refused, ok := errors.AsType[*textproto.Error](err); ok {
		code := sluice.CodeMailFailed
		if refused.Code >= 500 {
			code = sluice.CodeMailRefused
		}
		return code.Errorf("The mail server %q refuses the mail with %d.", host, refused.Code)
	}
	why := reason(err)
	switch {
	case errors.Is(err, outward.ErrRefused):
		return sluice.CodeAddressRefused.Errorf(
			"The mail server %q is in a private or reserved network; the operator can allow it with --http-allow.",
			host)
	case errors.Is(err, errUnencrypted):
		why = fmt.Sprint(err)
	case timedOut(err):
		why = "it took too long"
	}
	return sluice.CodeMailFailed.Errorf("The mail could not be handed to %q: %s.", host, why)
}

package missed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sluice"
	"sluice/outward"
	"sluice/value"
	"sluice/wait"
)

const (
	requestTimeout = 30 * time.Second
	maxReply       = 8 << 20
	maxDecoded     = 32 << 20        // of a reply, decoded: a list of empty objects takes a hundred times its length
	maxPages       = 1000            // of the lists that one asking reads
	leastPause     = time.Second     // before a request that a sender did not want is made again
	shortPause     = 2 * time.Second // that a sender asks for, and that is waited for here
	longPause      = time.Minute     // that is assumed if a sender says nothing
)

// An api is the API of a sender, as one webhook uses it.
type api struct {
	provider
	webhook sluice.Webhook // that uses it
	hook    string         // address of the webhook there, without a slash at the end
	path    string         // of the provider's paths the one in it
	base    string         // what stands before that
	id      string         // what stands behind it
	sender  string
	title   string // of the sender, for people
	secret  string
	bearer  string      // of each request; the secret unless the provider says otherwise
	header  http.Header // of each request, too
	client  *http.Client
	pages   int // that were read
}

// errGone says that the sender no longer has what was asked for.
var errGone = errors.New("the sender has it no longer")

// call makes a request. A pause that the sender asks for is made if it is short.
func (a *api) call(ctx context.Context, method, address string, body any) ([]byte, http.Header, error) {
	for {
		//nolint:bodyclose // it is read and closed
		answer, reply, err := a.send(ctx, method, address, body)
		switch {
		case errors.Is(err, outward.ErrRefused):
			return nil, nil, sluice.CodeAddressRefused.Errorf(
				"%s can't be asked: apiUrl leads to an address in a private or reserved network, or in any without "+
					"https; the operator can allow a network with --http-allow.", a.title)
		case err != nil:
			return nil, nil, a.refused("it does not answer", err)
		}
		switch status := answer.StatusCode; {
		case status == http.StatusNotFound || status == http.StatusGone:
			return nil, nil, errGone
		case isLimit(status, answer.Header):
			pause := max(pauseOf(answer.Header, time.Now()), leastPause)
			if pause > shortPause {
				return nil, nil, sluice.CodeSenderLimits.Errorf(
					"%s takes no more requests for now. What was done counts; ask again later for the rest.", a.title).
					After(pause)
			}
			if err := wait.For(ctx, pause); err != nil {
				return nil, nil, err
			}
		case status >= 300:
			return nil, nil, a.refused("it answers "+strconv.Itoa(status), nil)
		default:
			return reply, answer.Header, nil
		}
	}
}

// ask makes a request whose reply is JSON: a page of a list, or something that is asked for once.
func (a *api) ask(
	ctx context.Context, method, address string, body any,
) (reply []byte, header http.Header, err error) {
	if a.pages++; a.pages > maxPages {
		return nil, nil, a.refused("its list does not end", nil)
	}
	reply, header, err = a.call(ctx, method, address, body)
	switch {
	case err != nil:
		return nil, nil, err
	case value.Footprint(reply) > maxDecoded:
		return nil, nil, a.refused("its reply is too large", nil)
	case !json.Valid(reply):
		return nil, nil, a.refused("its reply can't be read", nil)
	}
	return reply, header, nil
}

// isLimit reports whether a sender takes no more requests for now.
func isLimit(status int, header http.Header) bool {
	return status == http.StatusTooManyRequests || status >= 400 && header.Get("Retry-After") != "" ||
		status == http.StatusForbidden && header.Get("X-Ratelimit-Remaining") == "0"
}

// logIn gets hold of the bearer token, where the secret is none.
func (a *api) logIn(ctx context.Context) error {
	if login := logins[a.sender]; login != nil {
		return login(ctx, a)
	}
	return nil
}

// login gets a token by client credentials, with one more field where there is one to be sent.
func (a *api) login(ctx context.Context, address string, field ...string) error {
	form := url.Values{"grant_type": {"client_credentials"}}
	if len(field) > 0 {
		form.Set(field[0], field[1])
	}
	reply, _, err := a.ask(ctx, http.MethodPost, address, form)
	a.bearer = text(reply, "access_token")
	return err
}

// send makes one request. A form is sent with the secret as name and password.
func (a *api) send(ctx context.Context, method, address string, body any) (*http.Response, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var content []byte
	media := "application/json"
	switch given := body.(type) {
	case nil:
	case url.Values:
		content, media = []byte(given.Encode()), "application/x-www-form-urlencoded"
	default:
		var err error
		if content, err = value.Marshal(given); err != nil {
			return nil, nil, err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(content))
	if err != nil {
		return nil, nil, err
	}
	maps.Copy(r.Header, a.header)
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "sluice")
	if method != http.MethodGet {
		r.Header.Set("Content-Type", media)
	}
	if _, form := body.(url.Values); form {
		name, password, _ := strings.Cut(a.secret, ":")
		r.SetBasicAuth(name, password)
	} else {
		r.Header.Set("Authorization", "Bearer "+a.bearer)
	}
	return outward.Do(a.client, r, maxReply)
}

// refused is the error of a sender that does not do what it was asked to. It never has the
// credential in it.
func (a *api) refused(how string, cause error) *sluice.Error {
	return sluice.CodeSenderRefuses.Errorf(
		"%s can't be asked: %s. See whether apiUrl and apiSecret of the webhook are right.", a.title, how).
		WithStatus(http.StatusBadGateway).Because(cause)
}

// pauseOf returns the pause that a sender asks for.
func pauseOf(header http.Header, now time.Time) time.Duration {
	if pause, asked := sluice.RetryAfter(header.Get("Retry-After"), now); asked {
		return pause
	}
	if at, err := strconv.ParseInt(header.Get("X-Ratelimit-Reset"), 10, 64); err == nil {
		return max(time.Unix(at, 0).Sub(now), time.Second)
	}
	return longPause
}

// next returns the address of the next page, "" if there is none: the same one with the query
// of a link. The credential goes nowhere else, whatever a reply says.
func next(address, link string) string {
	to, err := url.Parse(link)
	if err != nil || link == "" || to.RawQuery == "" {
		return ""
	}
	own, _, _ := strings.Cut(address, "?")
	return own + "?" + to.RawQuery
}

// linked returns the link to the next page in a header.
func linked(header http.Header) string {
	for part := range strings.SplitSeq(strings.Join(header.Values("Link"), ","), ",") {
		target, rest, _ := strings.Cut(strings.TrimSpace(part), ">")
		if strings.Contains(rest, `rel="next"`) {
			return strings.TrimPrefix(target, "<")
		}
	}
	return ""
}

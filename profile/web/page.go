// Package web asks servers for what they know of GPUs: the page of an exporter, and
// the series of a Prometheus server. It makes each question through the
// http.RoundTripper that it is given, bounds the answer in time and size, and shows
// no part of an address that may be secret.
package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"capcli"
)

// Bounds on one page and on a token.
const (
	PageWait = 10 * time.Second
	maxPage  = 64 << 20
	maxToken = 64 << 10
)

// ParseAddress reads text as an address of the web; nil is none. Its shown form is
// what messages, files and labels may hold: who asks, with what password, and what
// is in the query may be secret, so that all three are left out.
func ParseAddress(text string) (u *url.URL, shown string) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, ""
	}
	bare := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	return u, bare.String()
}

// ReadToken reads a secret that stands in a file called name. The secret appears in
// no message.
func ReadToken(name string, r io.Reader) (string, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxToken+1))
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", name, err)
	}
	token := string(bytes.TrimSpace(b))
	if token == "" || len(b) > maxToken || strings.ContainsAny(token, "\r\n\x00") {
		return "", &capcli.InputError{File: name, Text: "expected a token in one line", Hint: "write only the token into it"}
	}
	return token, nil
}

// FetchPage reads the page at u, which messages call shown. A nil transport is the
// usual one.
func FetchPage(ctx context.Context, transport http.RoundTripper, shown string, u *url.URL) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, PageWait, errLate(PageWait))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, failed(ctx, shown, err)
	}
	req.Header.Set("Accept", "text/plain;version=0.0.4")
	client := http.Client{Transport: transport}
	res, err := client.Do(req)
	if err != nil {
		return nil, failed(ctx, shown, err)
	}
	defer res.Body.Close() //nolint:errcheck // it was only read
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", shown, res.Status)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxPage+1))
	if err != nil {
		return nil, failed(ctx, shown, err)
	}
	if len(body) > maxPage {
		return nil, fmt.Errorf("%s answers with more than %d bytes", shown, maxPage)
	}
	return body, nil
}

// errLate says that a server did not give its whole answer in time.
func errLate(wait time.Duration) error {
	return fmt.Errorf("no whole answer within %v", wait)
}

// failed says why a request failed, without its address, which may hold a secret.
func failed(ctx context.Context, shown string, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	} else if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return fmt.Errorf("asking %s: %w", shown, err)
}

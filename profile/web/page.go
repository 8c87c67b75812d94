// Package web requests data about GPUs from servers: the metrics page of an exporter, and time
// series of a Prometheus server. It sends each request through the http.RoundTripper of its
// caller, limits the time and the size of the answer, and shows no part of an address that may
// be secret.
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

// Limits on one page and on a token.
const (
	PageWait = 10 * time.Second // time for one page
	maxPage  = 64 << 20         // bytes
	maxToken = 64 << 10         // bytes
)

// ParseAddress parses text as an http or https URL; u is nil where it is not one. shown is the
// form for messages, files and labels. It omits the user, the password and the query, which
// may be secret.
func ParseAddress(text string) (u *url.URL, shown string) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, ""
	}
	bare := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	return u, bare.String()
}

// ReadToken reads a token, a secret, from r, the content of the file called name. It fails
// where the content is not one line of text. Its errors do not contain the token.
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

// FetchPage returns the page at u. Errors call it shown. A nil transport is
// http.DefaultTransport. FetchPage fails where the server does not answer 200 OK within
// PageWait, or answers with more than 64 MiB.
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

// errLate returns the error for a server that did not send its whole answer in time.
func errLate(wait time.Duration) error { return fmt.Errorf("no whole answer within %v", wait) }

// failed returns the error for a failed request, without the address, which may hold a secret.
func failed(ctx context.Context, shown string, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	} else if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return fmt.Errorf("asking %s: %w", shown, err)
}

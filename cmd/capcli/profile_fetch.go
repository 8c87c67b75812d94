package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"time"
)

// Bounds on what a source reads at once.
const (
	maxFetch  = 64 << 20
	fetchWait = 10 * time.Second
)

// fetcher is the SourceOptions.Fetch of a source that reads from where, which is
// shown as shown: u, the arguments of nvidia-smi, or a file. Sources know only
// what may be shown.
//
// Whatever is asked ends when program does.
func (e *env) fetcher(program context.Context, shown string, u *url.URL) func(context.Context, string) (io.ReadCloser, error) {
	return func(ctx context.Context, what string) (io.ReadCloser, error) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(program, func() { cancel(context.Cause(program)) })()
		switch {
		case u != nil && what == shown:
			return e.fetchURL(ctx, shown, u)
		case strings.HasPrefix(what, "--query-"):
			return fetchSMI(ctx, what)
		}
		return e.fetchFile(what)
	}
}

func (e *env) fetchFile(name string) (io.ReadCloser, error) {
	in, closer, err := openInput(e, name)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{in.R, closer}, nil
}

// fetchURL reads u, which messages call shown.
func (e *env) fetchURL(ctx context.Context, shown string, u *url.URL) (io.ReadCloser, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, fetchWait, lateError(fetchWait))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", shown, whyNot(ctx, err))
	}
	req.Header.Set("Accept", "text/plain;version=0.0.4")
	client := http.Client{Transport: e.web}
	res, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", shown, whyNot(ctx, err))
	}
	defer res.Body.Close() //nolint:errcheck // it was only read
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", shown, res.Status)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxFetch+1))
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", shown, whyNot(ctx, err))
	}
	if len(body) > maxFetch {
		return nil, fmt.Errorf("%s answers with more than %d bytes", shown, maxFetch)
	}
	return io.NopCloser(bytes.NewReader(body)), nil
}

// lateError says that a server did not give its whole answer in time.
func lateError(wait time.Duration) error {
	return fmt.Errorf("no whole answer within %v", wait)
}

// whyNot is why a request failed, without its address, which may hold a secret.
func whyNot(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

func fetchSMI(ctx context.Context, args string) (io.ReadCloser, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchWait)
	defer cancel()
	out, err := exec.CommandContext(ctx, "nvidia-smi", strings.Fields(args)...).Output()
	var failed *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, errors.New("there is no nvidia-smi here: is NVIDIA's driver installed?")
	case errors.As(err, &failed):
		// It tells what is wrong on stdout, as often as not.
		return nil, fmt.Errorf("nvidia-smi: %s", firstLine(string(failed.Stderr)+string(out)))
	case err != nil:
		return nil, fmt.Errorf("nvidia-smi: %w", err)
	}
	return io.NopCloser(bytes.NewReader(out)), nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"time"
)

// Bounds on what a source reads at once.
const (
	maxFetch  = 64 << 20
	fetchWait = 10 * time.Second
)

// fetch opens what a source asks for: a URL, the arguments of nvidia-smi, or a file.
func (e *env) fetch(ctx context.Context, what string) (io.ReadCloser, error) {
	switch {
	case strings.HasPrefix(what, "http://"), strings.HasPrefix(what, "https://"):
		return e.fetchURL(ctx, what)
	case strings.HasPrefix(what, "--query-"):
		return fetchSMI(ctx, what)
	}
	in, closer, err := openInput(e, what)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{in.R, closer}, nil
}

func (e *env) fetchURL(ctx context.Context, address string) (io.ReadCloser, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchWait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, &usageError{text: fmt.Sprintf("--where %s is no address: %v", address, err)}
	}
	req.Header.Set("Accept", "text/plain;version=0.0.4")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close() //nolint:errcheck // it was only read
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", address, res.Status)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxFetch+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	if len(body) > maxFetch {
		return nil, fmt.Errorf("%s answers with more than %d bytes", address, maxFetch)
	}
	return io.NopCloser(bytes.NewReader(body)), nil
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

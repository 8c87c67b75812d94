package shell

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os/exec"
	"strings"

	"capcli/profile/web"
)

// Fetcher returns the SourceOptions.Fetch of a source. It fetches one of three things: the address
// u, which the source knows only in the form shown, without its secrets; the output of nvidia-smi
// for arguments that begin with --query-; or a file. A fetch ends when the context program does.
func (e *Env) Fetcher(program context.Context, shown string, u *url.URL) func(context.Context, string) (io.ReadCloser, error) {
	return func(ctx context.Context, what string) (io.ReadCloser, error) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(program, func() { cancel(context.Cause(program)) })()
		switch {
		case u != nil && what == shown:
			page, err := web.FetchPage(ctx, e.Web, shown, u)
			if err != nil {
				return nil, err
			}
			return io.NopCloser(bytes.NewReader(page)), nil
		case strings.HasPrefix(what, "--query-"):
			return FetchSMI(ctx, what)
		}
		return e.fetchFile(what)
	}
}

func (e *Env) fetchFile(name string) (io.ReadCloser, error) {
	in, closer, err := OpenInput(e, name)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{in.R, closer}, nil
}

// FetchSMI returns what nvidia-smi prints for args.
func FetchSMI(ctx context.Context, args string) (io.ReadCloser, error) {
	ctx, cancel := context.WithTimeout(ctx, web.PageWait)
	defer cancel()
	out, err := exec.CommandContext(ctx, "nvidia-smi", strings.Fields(args)...).Output()
	var failed *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, errors.New("there is no nvidia-smi here: is NVIDIA's driver installed?")
	case errors.As(err, &failed):
		// nvidia-smi often reports errors on stdout.
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

// Listen listens at the address of a flag. An address without a host is bound to 127.0.0.1.
func Listen(ctx context.Context, flag, address string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, &UsageError{Text: fmt.Sprintf("--%s wants an address such as 127.0.0.1:9835, found %q", flag, address)}
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(cmp.Or(host, "127.0.0.1"), port))
	if err != nil {
		return nil, fmt.Errorf("cannot listen at %s: %w", address, err)
	}
	return l, nil
}

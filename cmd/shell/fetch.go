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

	"capcli"
	"capcli/cmd/files"
	"capcli/profile/bucket"
	"capcli/profile/store"
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

// ArgumentSecrets returns a replacer for messages that repeat an argument of the program. It
// replaces each address that holds a secret with a form that may be shown.
func ArgumentSecrets(args []string) *strings.Replacer {
	var pairs []string
	for _, a := range args {
		if _, value, ok := strings.Cut(a, "="); ok && strings.HasPrefix(a, "-") {
			a = value
		}
		if u, shown := web.ParseAddress(a); u != nil && shown != a {
			pairs = append(pairs, a, shown)
		}
	}
	return strings.NewReplacer(pairs...)
}

// mayHoldSecret reports whether text may be a misspelt address with a secret in it. No message may
// repeat such a text.
func mayHoldSecret(text string) bool {
	return strings.Contains(text, "://") || strings.ContainsAny(text, "@?#")
}

// WhereFlag parses the value of --where. It returns the text that messages may show, and the
// address, or nil where the value names a file. It fails when the value is no file and could be a
// misspelt address with a secret in it.
func (e *Env) WhereFlag(where string) (shown string, u *url.URL, err error) {
	u, shown = web.ParseAddress(where)
	if u != nil {
		return shown, u, nil
	}
	if where == "" || !mayHoldSecret(where) {
		return where, nil, nil
	}
	if _, err := e.Disk.Stat(where); err == nil {
		return where, nil, nil
	}
	return "", nil, &UsageError{
		Text: "--where names neither a file nor an address that begins with http:// or https:// (it is not shown here, because it may hold a secret)",
		Hint: "in the user name and password of an address, write @ as %40, / as %2F, % as %25",
	}
}

// ProfileFolder returns the folder dir of this box, or of a bucket: s3://BUCKET/PREFIX.
func (e *Env) ProfileFolder(dir string) (store.Folder, error) {
	if bucket.IsName(dir) {
		b, err := e.Bucket(dir)
		if err != nil {
			return store.Folder{}, err
		}
		return store.Folder{Name: dir, Disk: b.Disk()}, nil
	}
	if _, err := e.Disk.Stat(dir); err != nil {
		return store.Folder{}, files.OpenError(dir, err)
	}
	return store.Folder{Name: dir, Root: dir}, nil
}

// Bucket returns the folder of a bucket. Its requests end with the running command.
func (e *Env) Bucket(name string) (*bucket.Bucket, error) {
	ctx := context.Background()
	if e.Cmd != nil && e.Cmd.Context() != nil {
		ctx = e.Cmd.Context()
	}
	o := bucket.Options{Getenv: e.Getenv}
	if file := e.Getenv("AWS_CA_BUNDLE"); file != "" {
		f, err := e.Disk.Open(file)
		if err != nil {
			return nil, files.OpenError(file, err)
		}
		defer f.Close() //nolint:errcheck // it was only read
		if o.Authorities, err = io.ReadAll(io.LimitReader(f, 4<<20)); err != nil {
			return nil, err
		}
	}
	b, err := bucket.Open(ctx, name, o)
	if err == nil && e.Verbose {
		e.buckets = append(e.buckets, b)
	}
	return b, err
}

// noteTraffic tells what buckets were asked for, with -v.
func (e *Env) noteTraffic() {
	for _, b := range e.buckets {
		requests, bytes := b.Traffic()
		e.Note(fmt.Sprintf("%v: %s requests, %s bytes", b, capcli.Grouped(requests), capcli.Grouped(bytes)))
	}
}

package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"capcli/cmd/shell"
	"capcli/testdata/shelltest"
)

// What is secret in an address of --where comes into no message and no file,
// whatever the source is and whether the address works.
func TestWhereKeepsSecrets(t *testing.T) {
	const secret = "s3cr3t"
	var authorized, query string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/moved"):
			http.Redirect(w, r, "http://127.0.0.1:1/?token="+secret, http.StatusFound)
			return
		case strings.HasSuffix(r.URL.Path, "/none"):
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, authorized, _ = r.BasicAuth()
		query = r.URL.RawQuery
		// An exporter without a name of its own is called after its address.
		_, _ = io.WriteString(w, `DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a"} 97`+"\n")
	}))
	defer s.Close()
	host := strings.TrimPrefix(s.URL, "http://")
	dir := t.TempDir()
	with := func(source, where string) []string {
		return []string{"profile", "--source", source, "--where", where, "--for", "100ms", "--every", "100ms", "--out", filepath.Join(dir, "out")}
	}
	both := "http://user:" + secret + "@" + host + "/metrics?token=" + secret + "#" + secret
	wrong := "http://user:" + secret + "@127.0.0.1:1/metrics?token=" + secret
	tests := []struct {
		name string
		code int
		args []string
		want string
	}{
		{"works", 0, with("dcgm", both), "1 GPU"},
		{"a token as the name", 1, with("dcgm", "http://"+secret+"@"+host+"/none"), host + "/none answers 404"},
		{"refused", 1, with("dcgm", wrong), "asking http://127.0.0.1:1/metrics: dial tcp 127.0.0.1:1"},
		{"a redirect with a token", 1, with("dcgm", s.URL+"/moved?token="+secret), "asking " + s.URL + "/moved"},
		{"no address", 2, with("dcgm", "http://user:"+secret+"%zz@"+host), "--where names neither a file"},
		{"another scheme", 2, with("dcgm", "https//user:"+secret+"@"+host), "--where names neither a file"},
		{"no scheme", 2, with("dcgm", "user:"+secret+"@"+host), "--where names neither a file"},
		{"no scheme, a query", 2, with("smi", host+"/metrics?token="+secret), "--where names neither a file"},
		{"capitals", 1, with("dcgm", strings.Replace(wrong, "http", "HTTP", 1)), "asking http://127.0.0.1:1/metrics"},
		{"smi", 3, with("smi", both), s.URL + "/metrics"},
		{"replay", 1, with("replay", both), "cannot open " + s.URL + "/metrics"},
		{"nvml", 1, with("nvml", both), ""},
		{"prometheus", 1, append(with("prometheus", wrong), "--from", "2026-11-01", "--to", "2026-11-02", "--every", "1m"), "asking http://127.0.0.1:1/metrics"},
		{"doctor", 1, []string{"doctor", "--where", both}, ""},
		{"top", 1, []string{"profile", "top", "--source", "dcgm", "--where", wrong}, ""},
		{"a forecast", 1, []string{"forecast", "--prom", wrong, "--query", "up", "--from", "1969-12-01"}, "asking http://127.0.0.1:1/metrics"},
		{"a stray argument", 2, []string{"profile", both}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, out, said := shelltest.NewEnv()
			code := run(context.Background(), e, tt.args)
			text, errs := out.String(), said.String()
			if code != tt.code && (tt.code != 0 || code != shell.ExitPartial) { // a busy machine may miss a tick
				t.Fatalf("exit %d, want %d: %s", code, tt.code, errs)
			}
			if strings.Contains(text+errs, secret) || strings.Contains(text+errs, "user") && tt.code != 2 {
				t.Errorf("a secret is said: %s%s", text, errs)
			}
			if !strings.Contains(errs, tt.want) {
				t.Errorf("said %q, want %q", errs, tt.want)
			}
		})
	}
	if authorized != secret || query != "token="+secret {
		t.Errorf("the exporter was shown the password %q and the query %q", authorized, query)
	}
	shown, _ := capcliRun(t, 0, "profile", "summary", filepath.Join(dir, "out"), "-o", "json")
	if !strings.Contains(shown, `"gpus": [`) || strings.Contains(shown, secret) || strings.Contains(shown, "user") {
		t.Errorf("the summary says %s", shown)
	}
	for _, name := range filesUnder(t, dir) {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(name+string(b), secret) {
			t.Errorf("the file %s holds a secret", name)
		}
	}
}

// filesUnder gives the names of all files below root, in order.
func filesUnder(t *testing.T, root string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(root, name)
			out = append(out, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

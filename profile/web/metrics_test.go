package web

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// The form of the page is what Accept and Accept-Encoding ask for.
func TestMetricsServer(t *testing.T) {
	const (
		prometheus2 = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
		prometheus3 = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
		protobuf    = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,text/plain;version=0.0.4;q=0.5"
	)
	server := MetricsServer(func(open bool) []byte {
		if open {
			return []byte("open")
		}
		return []byte("text")
	})
	for _, c := range []struct {
		method, path, accept, encoding string
		code                           int
		want                           string
		zipped                         bool
	}{
		{"GET", "/metrics", "", "", 200, "text", false},
		{"GET", "/metrics", "*/*", "", 200, "text", false},
		{"GET", "/metrics", prometheus2, "gzip", 200, "open", true},
		{"GET", "/metrics", prometheus3, "deflate, gzip;q=0.5", 200, "open", true},
		{"GET", "/metrics", protobuf, "gzip;q=0", 200, "text", false},
		{"GET", "/metrics", "application/openmetrics-text;version=0.0.1", "", 200, "text", false},
		{"GET", "/metrics", "application/openmetrics-text;q=0", "identity", 200, "text", false},
		{"GET", "/metrics", "text/plain,application/openmetrics-text;q=0.5", "", 200, "text", false},
		{"GET", "/metrics", "application/openmetrics-text;q=x, ;;,", "gzip;q=x", 200, "text", false},
		{"GET", "/", "", "", 404, "", false},
		{"POST", "/metrics", "", "", 405, "", false},
	} {
		req := httptest.NewRequest(c.method, c.path, http.NoBody)
		req.Header.Set("Accept", c.accept)
		req.Header.Set("Accept-Encoding", c.encoding)
		w := httptest.NewRecorder()
		server.Handler.ServeHTTP(w, req)
		got := w.Result()
		body := io.Reader(got.Body)
		if zipped := got.Header.Get("Content-Encoding") == "gzip"; zipped != c.zipped {
			t.Errorf("%q, %q: gzip %v, want %v", c.accept, c.encoding, zipped, c.zipped)
		} else if zipped {
			z, err := gzip.NewReader(got.Body)
			if err != nil {
				t.Fatal(err)
			}
			body = z
		}
		text, err := io.ReadAll(body)
		if got.StatusCode != c.code || c.want != "" && string(text) != c.want || err != nil {
			t.Errorf("%s %s, %q: %d %q %v, want %d %q", c.method, c.path, c.accept, got.StatusCode, text, err, c.code, c.want)
		}
		want := map[string]string{"open": openMetricsType, "text": textType}[c.want]
		if kind := got.Header.Get("Content-Type"); want != "" && kind != want {
			t.Errorf("%q: %s, want %s", c.accept, kind, want)
		}
	}
}

package web

import (
	"compress/gzip"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The types of pages of metrics.
const (
	openMetricsType = "application/openmetrics-text; version=1.0.0; charset=utf-8"
	textType        = "text/plain; version=0.0.4; charset=utf-8"
)

// MetricsServer returns a server of /metrics, with limits on the time and the size of requests. page makes
// the page, as OpenMetrics 1.0 or in the text format 0.0.4 of Prometheus: which of them, and whether it is
// compressed, the headers Accept and Accept-Encoding say (RFC 9110, 12.5).
func MetricsServer(page func(openMetrics bool) []byte) *http.Server {
	return &http.Server{
		Handler: metricsHandler(page), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
}

type metricsHandler func(openMetrics bool) []byte

// ServeHTTP answers a scrape.
func (page metricsHandler) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	switch {
	case req.URL.Path != "/metrics":
		http.Error(w, "capcli profile: metrics are at /metrics", http.StatusNotFound)
		return
	case req.Method != http.MethodGet && req.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "capcli profile: /metrics is only read", http.StatusMethodNotAllowed)
		return
	}
	open := wantsOpenMetrics(req.Header.Values("Accept"))
	h := w.Header()
	h.Set("Content-Type", textType)
	if open {
		h.Set("Content-Type", openMetricsType)
	}
	h.Add("Vary", "Accept")
	h.Add("Vary", "Accept-Encoding")
	text := page(open)
	// A scraper that has gone away is no error.
	if !wantsGzip(req.Header.Values("Accept-Encoding")) {
		_, _ = w.Write(text)
		return
	}
	h.Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(w)
	_, _ = z.Write(text)
	_ = z.Close()
}

// wantsOpenMetrics reports whether OpenMetrics 1.0 is asked for by name, and not less than plain text.
func wantsOpenMetrics(accept []string) bool {
	open, text := 0.0, 0.0
	for kind := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		name, params, err := mime.ParseMediaType(strings.TrimSpace(kind))
		if err != nil {
			continue
		}
		version := params["version"]
		switch q := quality(params["q"]); {
		case name == "application/openmetrics-text" && (version == "" || version == "1.0.0"):
			open = max(open, q)
		case name == "text/plain" && (version == "" || version == "0.0.4"):
			text = max(text, q)
		}
	}
	return open > 0 && open >= text
}

func wantsGzip(accept []string) bool {
	for one := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		name, rest, _ := strings.Cut(strings.TrimSpace(one), ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		_, q, _ := strings.Cut(rest, "q=")
		return quality(strings.TrimSpace(q)) > 0
	}
	return false
}

// quality returns the weight that a header gives, from 0 to 1; 1 where it gives none.
func quality(q string) float64 {
	if q == "" {
		return 1
	}
	v, err := strconv.ParseFloat(q, 64)
	if err != nil || !(v >= 0 && v <= 1) {
		return 0
	}
	return v
}

package bucket

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// server speaks as much of S3 as this package uses, and fails as told.
type server struct {
	*httptest.Server
	busy    sync.RWMutex // each request holds it for reading
	mu      sync.Mutex
	objects map[string]kept // by bucket/key
	page    int             // keys in an answer of a list
	calls   []string        // "PUT bucket/key"
	// fault is asked before each request; it returns true where it has answered.
	fault func(n int, w http.ResponseWriter, r *http.Request) bool
}

type kept struct {
	data []byte
	tag  string
	meta http.Header
}

const (
	testKey    = "AKIDEXAMPLEKEY"
	testSecret = "wJalrXUtnFEMIsecretK7MDENG"
	testToken  = "FwoGZXIvYXdzEtoken"
)

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{objects: map[string]kept{}, page: 1000}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", testKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", testSecret)
	t.Setenv("AWS_SESSION_TOKEN", testToken)
	return s
}

// open gives a folder in the bucket "fleet".
func (s *server) open(t *testing.T, name string) *Bucket {
	t.Helper()
	b, err := Open(t.Context(), name, Options{Retries: 6, Wait: 5 * time.Second, Getenv: func(name string) string {
		return map[string]string{"AWS_ENDPOINT_URL": s.URL, "AWS_REGION": "here"}[name]
	}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// keys gives the keys of the bucket, sorted.
func (s *server) keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.objects))
}

// object gives what the bucket has under a key.
func (s *server) object(key string) kept {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[key]
}

// setObject changes what the bucket has under a key. What was read ahead for a reader that failed may still be under
// way, and sees the one or the other.
func (s *server) setObject(key string, o kept) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[key] = o
}

func (s *server) refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", code, message)
}

// setFault sets what fails from now on.
func (s *server) setFault(fault func(n int, w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// awaitQuiet waits for the requests under way, of which a client that stopped knows nothing.
func (s *server) awaitQuiet() {
	s.busy.Lock()
	defer s.busy.Unlock()
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.busy.RLock()
	defer s.busy.RUnlock()
	key := strings.TrimPrefix(r.URL.Path, "/")
	s.mu.Lock()
	s.calls = append(s.calls, r.Method+" "+key)
	n, fault := len(s.calls), s.fault
	s.mu.Unlock()
	if fault != nil && fault(n, w, r) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o, found := s.objects[key]
	switch {
	case r.Method == http.MethodGet && r.URL.Query().Get("list-type") == "2":
		s.list(w, strings.Trim(key, "/"), r.URL.Query())
	case r.Method == http.MethodPut:
		s.put(w, r, key, found)
	case r.Method == http.MethodDelete:
		delete(s.objects, key)
		w.WriteHeader(http.StatusNoContent)
	case !found:
		s.refuse(w, http.StatusNotFound, "NoSuchKey", "")
	case r.Header.Get("If-Match") != "" && r.Header.Get("If-Match") != `"`+o.tag+`"`:
		s.refuse(w, http.StatusPreconditionFailed, "PreconditionFailed", "")
	default:
		maps.Copy(w.Header(), o.meta)
		w.Header().Set("ETag", `"`+o.tag+`"`)
		http.ServeContent(w, r, "", time.Unix(1e9, 0), bytes.NewReader(o.data))
	}
}

func (s *server) put(w http.ResponseWriter, r *http.Request, key string, found bool) {
	body := io.Reader(r.Body)
	if strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		body = unchunk(r.Body)
	}
	data, err := io.ReadAll(body)
	weak, strong := md5.Sum(data), sha256.Sum256(data)
	sum := r.Header.Get("X-Amz-Content-Sha256")
	switch {
	case err != nil:
		s.refuse(w, http.StatusBadRequest, "IncompleteBody", err.Error())
	case r.Header.Get("If-None-Match") == "*" && found:
		s.refuse(w, http.StatusPreconditionFailed, "PreconditionFailed", "")
	case r.Header.Get("Content-Md5") != base64.StdEncoding.EncodeToString(weak[:]):
		s.refuse(w, http.StatusBadRequest, "BadDigest", "")
	case len(sum) == 64 && sum != hex.EncodeToString(strong[:]):
		s.refuse(w, http.StatusBadRequest, "XAmzContentSHA256Mismatch", "")
	default:
		o := kept{data, hex.EncodeToString(weak[:]), http.Header{}}
		for name, v := range r.Header {
			if strings.HasPrefix(name, "X-Amz-Meta-") {
				o.meta[name] = v
			}
		}
		s.objects[key] = o
		w.Header().Set("ETag", `"`+o.tag+`"`)
	}
}

// unchunk reads a body of signed chunks.
func unchunk(r io.Reader) io.Reader {
	in, out := bufio.NewReader(r), &bytes.Buffer{}
	for {
		head, err := in.ReadString('\n')
		size, _, _ := strings.Cut(head, ";")
		n, bad := strconv.ParseInt(size, 16, 64)
		if err != nil || bad != nil || n == 0 {
			return out
		}
		_, _ = io.CopyN(out, in, n)
		_, _ = in.Discard(2)
	}
}

func (s *server) list(w http.ResponseWriter, bucket string, q url.Values) {
	type entry struct {
		Key          string `xml:",omitempty"`
		Prefix       string `xml:",omitempty"`
		LastModified string `xml:",omitempty"`
		ETag         string `xml:",omitempty"`
		Size         int
	}
	var answer struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		IsTruncated           bool
		NextContinuationToken string
		Contents              []entry
		CommonPrefixes        []entry
	}
	seen := map[string]bool{}
	n := 0
	for _, name := range slices.Sorted(maps.Keys(s.objects)) {
		key, ok := strings.CutPrefix(name, bucket+"/")
		if !ok || !strings.HasPrefix(key, q.Get("prefix")) || key <= q.Get("continuation-token") {
			continue
		}
		if n == s.page {
			answer.IsTruncated = true
			break
		}
		if d := q.Get("delimiter"); d != "" {
			if first, _, deep := strings.Cut(key[len(q.Get("prefix")):], d); deep {
				p := q.Get("prefix") + first + d
				if !seen[p] && p > q.Get("continuation-token") {
					seen[p] = true
					answer.CommonPrefixes = append(answer.CommonPrefixes, entry{Prefix: p})
					n++
				}
				answer.NextContinuationToken = p + "\xef\xbf\xbf"
				continue
			}
		}
		o := s.objects[name]
		answer.Contents = append(answer.Contents, entry{Key: key, LastModified: "2026-11-20T00:00:00.000Z", ETag: `"` + o.tag + `"`, Size: len(o.data)})
		answer.NextContinuationToken = key
		n++
	}
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(answer)
}

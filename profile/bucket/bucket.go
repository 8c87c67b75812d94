package bucket

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"capcli"
)

// Scheme begins the name of a folder in a bucket.
const Scheme = "s3://"

// IsName reports whether a name of a folder is that of one in a bucket.
func IsName(name string) bool { return strings.HasPrefix(name, Scheme) }

// Options configures access to a bucket.
type Options struct {
	// Getenv returns the settings that the programs of AWS use: AWS_ENDPOINT_URL_S3,
	// AWS_ENDPOINT_URL, AWS_REGION, AWS_DEFAULT_REGION. Credentials are found as these programs do:
	// in the environment, in ~/.aws, or as the role of the machine.
	Getenv func(name string) string
	// Authorities is the text of the certificates that vouch for the server, PEM; nil is those of
	// the system.
	Authorities []byte
	// Retries is how often a request is made that fails in a way that may pass; default 6.
	Retries int
	// Wait bounds one request, beside the time for its bytes; default 1 min.
	Wait time.Duration
}

// Bucket is a folder in a bucket. It may be used by several goroutines.
type Bucket struct {
	ctx    context.Context //nolint:containedctx // a store.Disk has no context of its own
	client *minio.Client
	creds  *credentials.Credentials
	o      Options
	name   string // of the bucket
	prefix string // "" or a name that ends in a slash
	slots  chan struct{}

	requests, bytes atomic.Int64
}

// mostAtOnce is the number of requests under way at once.
const mostAtOnce = 16

// leastRate is the rate below which a transfer is given up, in bytes per second.
const leastRate = 64 << 10

// Open returns the folder called s3://BUCKET or s3://BUCKET/PREFIX. It makes no request. All requests
// end when ctx does.
func Open(ctx context.Context, name string, o Options) (*Bucket, error) {
	b := &Bucket{ctx: ctx, o: o, slots: make(chan struct{}, mostAtOnce)}
	b.o.Retries, b.o.Wait = cmp.Or(b.o.Retries, 6), cmp.Or(b.o.Wait, time.Minute)
	var err error
	if b.name, b.prefix, err = parseName(name); err != nil {
		return nil, err
	}
	host, secure, own, err := endpoint(o.Getenv)
	if err != nil {
		return nil, err
	}
	transport, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, err
	}
	transport.MaxIdleConnsPerHost = mostAtOnce
	transport.ResponseHeaderTimeout = b.o.Wait
	if len(o.Authorities) > 0 && secure {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(o.Authorities) {
			return nil, &capcli.RequestError{Text: "AWS_CA_BUNDLE holds no certificate"}
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	b.creds = credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{}})
	lookup := minio.BucketLookupAuto
	if own {
		lookup = minio.BucketLookupPath
	}
	region := cmp.Or(o.Getenv("AWS_REGION"), o.Getenv("AWS_DEFAULT_REGION"))
	b.client, err = minio.New(host, &minio.Options{
		Creds: b.creds, Secure: secure, Region: region, BucketLookup: lookup, MaxRetries: b.o.Retries,
		Transport: &counting{transport, b},
	})
	if err != nil {
		return nil, &capcli.RequestError{Text: fmt.Sprintf("AWS_ENDPOINT_URL: %v", err)}
	}
	b.client.SetAppInfo("capcli", "1")
	return b, nil
}

// CheckName fails with *capcli.RequestError for a name that Open refuses.
func CheckName(name string) error {
	_, _, err := parseName(name)
	return err
}

// parseName parses s3://BUCKET/PREFIX.
func parseName(name string) (bucket, prefix string, err error) {
	rest, ok := strings.CutPrefix(name, Scheme)
	bucket, prefix, _ = strings.Cut(rest, "/")
	prefix = strings.Trim(prefix, "/")
	if !ok || bucket == "" || strings.ContainsAny(bucket, "?#@: ") || strings.Contains("/"+prefix+"/", "//") && prefix != "" || strings.Contains("/"+prefix+"/", "/../") {
		return "", "", &capcli.RequestError{Text: fmt.Sprintf("expected the name of a folder in a bucket, found %q", name), Hint: "s3://gpu-profiles or s3://gpu-profiles/fleet"}
	}
	if prefix != "" {
		prefix += "/"
	}
	return bucket, prefix, nil
}

// endpoint returns the server of the environment. own says that it is not Amazon's.
func endpoint(getenv func(string) string) (host string, secure, own bool, err error) {
	text := cmp.Or(getenv("AWS_ENDPOINT_URL_S3"), getenv("AWS_ENDPOINT_URL"))
	if text == "" {
		return "s3.amazonaws.com", true, false, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || strings.Trim(u.Path, "/") != "" {
		// The text is not shown: it may hold a password.
		return "", false, false, &capcli.RequestError{Text: "AWS_ENDPOINT_URL wants an address without a name, a password or a path", Hint: "such as https://minio.example.org:9000"}
	}
	return u.Host, u.Scheme == "https", true, nil
}

// String returns the name of the folder: s3://BUCKET/PREFIX.
func (b *Bucket) String() string { return strings.TrimSuffix(Scheme+b.name+"/"+b.prefix, "/") }

// Traffic returns the number of requests made and of bytes received so far.
func (b *Bucket) Traffic() (requests, bytes int64) { return b.requests.Load(), b.bytes.Load() }

// counting counts the requests of a bucket and the bytes of their answers.
type counting struct {
	http.RoundTripper
	b *Bucket
}

func (c *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.b.requests.Add(1)
	answer, err := c.RoundTripper.RoundTrip(r)
	if answer != nil {
		answer.Body = &countedBody{answer.Body, c.b}
	}
	return answer, err
}

package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"

	"capcli/profile/store"
)

// Error is a request that a bucket refused, or that did not reach it. Its text holds no secret.
type Error struct {
	Name string // s3://BUCKET/PREFIX/…
	Code string // the server's code, such as AccessDenied; "" where it did not answer
	Text string
	Hint string // what to do
	Err  error
}

func (e *Error) Error() string { return e.Name + ": " + e.Text }

// FarName implements store.FarError.
func (e *Error) FarName() string { return e.Name }

// Unwrap returns the cause. It is fs.ErrNotExist for a missing object and store.ErrChanged for one
// that changed while it was read.
func (e *Error) Unwrap() error { return e.Err }

// fault returns err as an *Error about the object key, without secrets.
func (b *Bucket) fault(key string, err error) error {
	if err == nil {
		return nil
	}
	if cause := context.Cause(b.ctx); cause != nil {
		return cause
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	e := &Error{Name: strings.TrimSuffix(Scheme+b.name+"/"+key, "/")}
	var answer minio.ErrorResponse
	var away *url.Error
	switch {
	case errors.As(err, &answer):
		e.Code = answer.Code
		b.explain(e, &answer)
	case errors.Is(err, store.ErrChanged):
		e.Text, e.Err = err.Error(), store.ErrChanged
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, io.ErrUnexpectedEOF):
		e.Text, e.Hint = "the server is too slow, or the connection broke", "try again"
	case errors.As(err, &away):
		e.Text, e.Hint = away.Err.Error(), "is AWS_ENDPOINT_URL the address of the server, and is it up?"
	default:
		e.Text = err.Error()
	}
	e.Text = b.redact(e.Text)
	return e
}

// explain puts what the server answered into words.
func (b *Bucket) explain(e *Error, answer *minio.ErrorResponse) {
	const who = "credentials are found in the environment (AWS_ACCESS_KEY_ID, AWS_PROFILE), in ~/.aws, or as the role of the machine"
	switch {
	case answer.Code == "NoSuchBucket":
		e.Text, e.Hint = "there is no such bucket", "check its name, AWS_REGION and AWS_ENDPOINT_URL"
	case answer.Code == "NoSuchKey" || answer.StatusCode == http.StatusNotFound:
		e.Text, e.Err = "there is no such object", fs.ErrNotExist
	case answer.Code == "PreconditionFailed" || answer.StatusCode == http.StatusPreconditionFailed:
		e.Text, e.Err = store.ErrChanged.Error(), store.ErrChanged
	case answer.Code == "InvalidAccessKeyId" || answer.Code == "SignatureDoesNotMatch" || answer.Code == "ExpiredToken":
		e.Text, e.Hint = fmt.Sprintf("the server does not accept the credentials (%s)", answer.Code), who
	case answer.StatusCode == http.StatusForbidden || answer.StatusCode == http.StatusUnauthorized:
		e.Text, e.Hint = fmt.Sprintf("access is denied (%s)", answer.Code), who
	case answer.Message == "":
		e.Text = fmt.Sprintf("the server answers %d %s", answer.StatusCode, answer.Code)
	default:
		e.Text = fmt.Sprintf("the server answers %d %s: %.300s", answer.StatusCode, answer.Code, answer.Message)
	}
}

// redact removes the credentials from a text that a server may have written.
func (b *Bucket) redact(text string) string {
	v, err := b.creds.GetWithContext(nil)
	if err != nil {
		return text
	}
	for _, secret := range []string{v.SecretAccessKey, v.SessionToken, v.AccessKeyID} {
		if len(secret) > 3 {
			text = strings.ReplaceAll(text, secret, "…")
		}
	}
	return text
}

// isGone reports whether err says that there is no such object.
func isGone(err error) bool { return errors.Is(err, fs.ErrNotExist) }

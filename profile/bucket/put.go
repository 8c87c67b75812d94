package bucket

import (
	"bytes"
	"crypto/md5" //nolint:gosec // see sumOf
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/minio/minio-go/v7"
)

// put uploads a file as one object and returns its tag. The server checks the bytes against their
// checksums; then put asks whether it has them.
func (b *Bucket) put(key string, at io.ReaderAt, size int64, s sums, box, segments string) (tag string, err error) {
	o := minio.PutObjectOptions{
		ContentType:  "application/vnd.apache.parquet",
		UserMetadata: map[string]string{metaSum: s.sha256, metaBox: box, metaSegments: segments},
	}
	const tries = 2
	for range tries {
		if err := b.send(key, io.NewSectionReader(at, 0, size), size, s, o); err != nil {
			return "", err
		}
		var i info
		if i, err = b.head(key); err != nil {
			return "", err
		}
		if i.holds(size, s) {
			return i.tag, nil
		}
		err = b.fault(key, fmt.Errorf("the server has other bytes than were uploaded: %d of %d, tag %s", i.size, size, i.tag))
	}
	return "", err
}

// send makes one request that puts an object.
func (b *Bucket) send(key string, body io.ReadSeeker, size int64, s sums, o minio.PutObjectOptions) error {
	ctx, end, err := b.request(size * int64(b.o.Retries))
	if err != nil {
		return err
	}
	defer end()
	_, err = minio.Core{Client: b.client}.PutObject(ctx, b.name, key, body, size, base64.StdEncoding.EncodeToString(s.md5), s.sha256, o)
	return b.fault(key, err)
}

// maxText is the most that text reads.
const maxText = 64 << 10

// text returns the content of a small object.
func (b *Bucket) text(key string) ([]byte, error) {
	i, err := b.head(key)
	if err != nil || i.size == 0 {
		return nil, err
	}
	return b.fetch(key, i.tag, 0, min(i.size, maxText))
}

// putText puts a small object. Where fresh is set it fails if there is one already.
func (b *Bucket) putText(key string, text []byte, fresh bool) error {
	strong, weak := sha256.Sum256(text), md5.Sum(text) //nolint:gosec // see sumOf
	o := minio.PutObjectOptions{ContentType: "application/json"}
	if fresh {
		o.SetMatchETagExcept("*")
	}
	return b.send(key, bytes.NewReader(text), int64(len(text)), sums{hex.EncodeToString(strong[:]), weak[:]}, o)
}

// remove removes an object that has the tag. One that has another is kept, and one that is gone is
// no error.
func (b *Bucket) remove(key, tag string) error {
	i, err := b.head(key)
	if isGone(err) || err == nil && i.tag != tag {
		return nil
	}
	if err != nil {
		return err
	}
	ctx, end, err := b.request(0)
	if err != nil {
		return err
	}
	defer end()
	return b.fault(key, b.client.RemoveObject(ctx, b.name, key, minio.RemoveObjectOptions{}))
}

// Package kubelet asks the kubelet of a node which pods hold which GPUs: its pod-resources API, a gRPC
// service on a Unix socket (KEP-606, k8s.io/kubelet/pkg/apis/podresources/v1).
package kubelet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"capcli"
)

// Socket is where the kubelet listens.
const Socket = "/var/lib/kubelet/pod-resources/kubelet.sock"

// Limits on an answer.
const (
	maxAnswer   = 16 << 20 // bytes, as the kubelet's own limit
	maxHoldings = 100_000
	answerWait  = 5 * time.Second
)

// Holding is a container that the kubelet gave devices of one kind.
type Holding struct {
	Namespace, Pod, Container string
	Resource                  string   // "nvidia.com/gpu"
	Devices                   []string // as the device plugin calls them: UUIDs, for NVIDIA's
}

// Client asks one kubelet. It may be used by one goroutine at a time.
type Client struct {
	socket string
	http   http.Client
}

// NewClient returns a client of the kubelet that listens at a socket.
func NewClient(socket string) *Client {
	var plain http.Protocols
	plain.SetUnencryptedHTTP2(true) // gRPC, without TLS
	return &Client{socket: socket, http: http.Client{Timeout: answerWait, Transport: &http.Transport{
		Protocols: &plain, IdleConnTimeout: time.Minute,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", socket)
		},
	}}}
}

// Close closes the connection.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Holdings returns which containers hold devices whose resource is of the vendor, such as "nvidia.com". It
// fails where the kubelet does not answer, or not as gRPC says (grpc.io, "gRPC over HTTP2").
func (c *Client) Holdings(ctx context.Context, vendor string) ([]Holding, error) {
	// The five bytes are a message that is not compressed and has length 0: a request without fields.
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://kubelet/v1.PodResourcesLister/List", strings.NewReader("\x00\x00\x00\x00\x00"))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/grpc")
	req.Header.Set("TE", "trailers")
	resp, err := c.http.Do(req)
	if err != nil {
		if bad, ok := errors.AsType[*url.Error](err); ok {
			err = bad.Err // the address in it is none
		}
		return nil, fmt.Errorf("the kubelet at %s does not answer: %w", c.socket, err)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if e := resp.Body.Close(); err == nil {
		err = e
	}
	status, message := resp.Trailer.Get("Grpc-Status"), resp.Trailer.Get("Grpc-Message")
	if status == "" { // an answer without a body has it at its head
		status, message = resp.Header.Get("Grpc-Status"), resp.Header.Get("Grpc-Message")
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("the kubelet at %s: %w", c.socket, err)
	case resp.StatusCode != http.StatusOK || status != "0":
		return nil, fmt.Errorf("the kubelet at %s answers with HTTP status %d, gRPC status %q: %.200s", c.socket, resp.StatusCode, status, message)
	}
	out, err := parseAnswer(body, vendor)
	if err != nil {
		return nil, &capcli.InputError{File: c.socket, Text: "expected a list of pods and their devices: " + err.Error(), Hint: "is it the kubelet's pod-resources API, version v1?"}
	}
	return out, nil
}

func parseAnswer(body []byte, vendor string) ([]Holding, error) {
	const head = 5
	if len(body) > maxAnswer {
		return nil, fmt.Errorf("more than %d bytes", maxAnswer)
	}
	if len(body) < head || body[0] != 0 || uint64(binary.BigEndian.Uint32(body[1:])) != uint64(len(body)-head) {
		return nil, errors.New("not one plain message")
	}
	var out []Holding
	err := eachField(body[head:], func(field protowire.Number, pod []byte) error {
		if field != fieldPods {
			return nil
		}
		return parsePod(pod, vendor, &out)
	})
	return out, err
}

// Numbers of fields, of api.proto of the version v1.
const (
	fieldPods       = 1 // of ListPodResourcesResponse
	fieldName       = 1 // of PodResources and ContainerResources
	fieldNamespace  = 2 // of PodResources
	fieldContainers = 3
	fieldDevices    = 2 // of ContainerResources
	fieldResource   = 1 // of ContainerDevices
	fieldDeviceIDs  = 2
)

func parsePod(b []byte, vendor string, out *[]Holding) error {
	var pod Holding
	var containers [][]byte
	err := eachField(b, func(field protowire.Number, v []byte) error {
		switch field {
		case fieldName:
			pod.Pod = text(v)
		case fieldNamespace:
			pod.Namespace = text(v)
		case fieldContainers:
			containers = append(containers, v)
		default:
		}
		return nil
	})
	for _, c := range containers {
		if err == nil {
			err = parseContainer(c, pod, vendor, out)
		}
	}
	return err
}

func parseContainer(b []byte, of Holding, vendor string, out *[]Holding) error {
	var devices [][]byte
	err := eachField(b, func(field protowire.Number, v []byte) error {
		switch field {
		case fieldName:
			of.Container = text(v)
		case fieldDevices:
			devices = append(devices, v)
		default:
		}
		return nil
	})
	for _, d := range devices {
		h := of
		if err == nil {
			err = eachField(d, func(field protowire.Number, v []byte) error {
				switch field {
				case fieldResource:
					h.Resource = text(v)
				case fieldDeviceIDs:
					h.Devices = append(h.Devices, text(v))
				default:
				}
				return nil
			})
		}
		if strings.HasPrefix(h.Resource, vendor+"/") && len(h.Devices) > 0 {
			if len(*out) >= maxHoldings {
				return fmt.Errorf("more than %d containers with devices", maxHoldings)
			}
			*out = append(*out, h)
		}
	}
	return err
}

// text returns at most 253 bytes, the longest name that Kubernetes allows, as UTF-8.
func text(b []byte) string { return strings.ToValidUTF8(string(b[:min(len(b), 253)]), "?") }

// eachField calls use with each field of a message that holds bytes; it skips the others.
func eachField(b []byte, use func(field protowire.Number, v []byte) error) error {
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		if kind != protowire.BytesType {
			if n = protowire.ConsumeFieldValue(field, kind, b); n < 0 {
				return protowire.ParseError(n)
			}
			b = b[n:]
			continue
		}
		v, n := protowire.ConsumeBytes(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		if err := use(field, v); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// UUID returns the UUID of a GPU or MIG instance in the name of a device. Where several pods share a GPU in
// turns or by MPS, NVIDIA's device plugin adds "::" and the number of the replica.
func UUID(device string) string {
	uuid, _, _ := strings.Cut(device, "::")
	return uuid
}

package kubelet

import (
	"encoding/binary"
	"net"
	"net/http"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// message makes a message of fields that hold bytes: number, value, number, value …
func message(fields ...any) string {
	var b []byte
	for i := 0; i < len(fields); i += 2 {
		b = protowire.AppendTag(b, protowire.Number(fields[i].(int)), protowire.BytesType)
		b = protowire.AppendString(b, fields[i+1].(string))
	}
	return string(b)
}

// framed puts the head of gRPC before a message.
func framed(m string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(m))), m...)
}

var sample = message(
	fieldPods, message(fieldName, "train-0", fieldNamespace, "lab", fieldContainers, message(
		fieldName, "main",
		fieldDevices, message(fieldResource, "nvidia.com/gpu", fieldDeviceIDs, "GPU-1", fieldDeviceIDs, "GPU-2"),
		fieldDevices, message(fieldResource, "rdma/hca", fieldDeviceIDs, "mlx5_0"))),
	fieldPods, message(fieldName, "idle", fieldNamespace, "lab", fieldContainers, message(fieldName, "main")),
	fieldPods, message(fieldNamespace, "web", fieldContainers, message(
		fieldDevices, message(fieldDeviceIDs, "GPU-3::4", fieldResource, "nvidia.com/gpu.shared"), fieldName, "server"), fieldName, "chat"),
)

var held = []Holding{
	{"lab", "train-0", "main", "nvidia.com/gpu", []string{"GPU-1", "GPU-2"}},
	{"web", "chat", "server", "nvidia.com/gpu.shared", []string{"GPU-3::4"}},
}

func TestParse(t *testing.T) {
	got, err := parseAnswer(framed(sample), "nvidia.com")
	if err != nil || !reflect.DeepEqual(got, held) {
		t.Errorf("got %+v, %v", got, err)
	}
	for name, body := range map[string][]byte{
		"nothing": nil, "a head alone": {0, 0, 0, 0, 9}, "compressed": {1, 0, 0, 0, 0},
		"two messages": append(framed(sample), framed(sample)...), "a field without an end": framed(sample[:len(sample)-1]),
	} {
		if _, err := parseAnswer(body, "nvidia.com"); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}

// A kubelet that answers, one that refuses, and none.
func TestHoldings(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	refuse := false
	var plain http.Protocols
	plain.SetUnencryptedHTTP2(true)
	server := &http.Server{Protocols: &plain, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1.PodResourcesLister/List" || r.ProtoMajor != 2 {
			t.Errorf("asked for %s by %s", r.URL, r.Proto)
		}
		w.Header().Set("Content-Type", "application/grpc")
		if refuse {
			w.Header().Set("Grpc-Status", "12")
			w.Header().Set("Grpc-Message", "unknown service")
			return
		}
		w.Header().Set("Trailer", "Grpc-Status")
		_, _ = w.Write(framed(sample))
		w.Header().Set("Grpc-Status", "0")
	})}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	c := NewClient(socket)
	defer c.Close()
	if got, err := c.Holdings(t.Context(), "nvidia.com"); err != nil || !reflect.DeepEqual(got, held) {
		t.Errorf("got %+v, %v", got, err)
	}
	refuse = true
	if _, err := c.Holdings(t.Context(), "nvidia.com"); err == nil || !strings.Contains(err.Error(), "unknown service") {
		t.Errorf("a refusal gives %v", err)
	}
	none := NewClient(socket + "-none")
	if _, err := none.Holdings(t.Context(), "nvidia.com"); err == nil {
		t.Error("no kubelet, and no error")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(framed(sample))
	f.Add(framed(""))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := parseAnswer(b, "nvidia.com")
		if err != nil {
			return
		}
		for _, h := range got {
			if len(h.Devices) == 0 || !strings.HasPrefix(h.Resource, "nvidia.com/") {
				t.Errorf("%+v", h)
			}
		}
	})
}

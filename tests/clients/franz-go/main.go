// franz-go as a client of the tests. Its words are those of ../rows.py.
package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const limit = 30 * time.Second

// group is a part of a plan: records that are written in one way.
type group struct {
	codec, mode string
	records     []*kgo.Record
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(words []string) error {
	if len(words) < 4 {
		return errors.New("write BOOTSTRAP TOPIC PLAN | read BOOTSTRAP TOPIC ISOLATION COUNT | join BOOTSTRAP TOPIC GROUP")
	}
	brokers, topic := kgo.SeedBrokers(strings.Split(words[1], ",")...), words[2]
	switch words[0] {
	case "write":
		groups, err := plan(words[3], topic)
		if err != nil {
			return err
		}
		for number, group := range groups {
			if err := write(brokers, fmt.Sprintf("franz-go-%s-%d", topic, number), group); err != nil {
				return fmt.Errorf("group %d: %w", number, err)
			}
		}
		return nil
	case "read":
		count, err := strconv.Atoi(words[4])
		if err != nil {
			return err
		}
		return read(brokers, topic, words[3], count)
	case "join":
		return join(brokers, topic, words[3])
	default:
		return fmt.Errorf("no command %s", words[0])
	}
}

func write(brokers kgo.Opt, id string, group group) error {
	codecs := map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
		"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}
	options := []kgo.Opt{
		brokers, kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchCompression(codecs[group.codec]),
		kgo.ProducerLinger(50 * time.Millisecond),
	}
	transactional := group.mode == "commit" || group.mode == "abort"
	if transactional {
		options = append(options, kgo.TransactionalID(id))
	} else if group.mode == "plain" {
		options = append(options, kgo.DisableIdempotentWrite())
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if transactional {
		if err := client.BeginTransaction(); err != nil {
			return err
		}
	}
	if err := client.ProduceSync(ctx, group.records...).FirstErr(); err != nil {
		return err
	}
	if transactional {
		return client.EndTransaction(ctx, kgo.TransactionEndTry(group.mode == "commit"))
	}
	return nil
}

func read(brokers kgo.Opt, topic, isolation string, count int) error {
	level := kgo.ReadUncommitted()
	if isolation == "read_committed" {
		level = kgo.ReadCommitted()
	}
	start := kgo.ConsumeResetOffset(kgo.NewOffset().AtStart())
	client, err := kgo.NewClient(
		brokers, kgo.ConsumeTopics(topic), start, kgo.FetchIsolationLevel(level), kgo.FetchMaxWait(100*time.Millisecond))
	if err != nil {
		return err
	}
	defer client.Close()
	for count > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		fetches := client.PollFetches(ctx)
		cancel()
		if err := fetches.Err(); err != nil {
			return fmt.Errorf("%d records are missing: %w", count, err)
		}
		fetches.EachRecord(show)
		count -= fetches.NumRecords()
	}
	return nil
}

func join(brokers kgo.Opt, topic, group string) error {
	told, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	start := kgo.ConsumeResetOffset(kgo.NewOffset().AtStart())
	client, err := kgo.NewClient(
		brokers, kgo.ConsumeTopics(topic), kgo.ConsumerGroup(group), start,
		kgo.HeartbeatInterval(300*time.Millisecond), kgo.FetchMaxWait(100*time.Millisecond))
	if err != nil {
		return err
	}
	defer client.Close()
	for {
		fetches := client.PollFetches(told)
		fetches.EachRecord(show)
		if told.Err() != nil {
			// Closing leaves the group, and commits nothing that was polled last.
			return client.CommitUncommittedOffsets(context.Background())
		}
		if err := fetches.Err(); err != nil {
			return err
		}
	}
}

func show(record *kgo.Record) {
	line := fmt.Sprintf("%d %d %d %s %s",
		record.Partition, record.Offset, record.Timestamp.UnixMilli(), asHex(record.Key), asHex(record.Value))
	for _, header := range record.Headers {
		line += fmt.Sprintf(" %s=%s", hex.EncodeToString([]byte(header.Key)), asHex(header.Value))
	}
	fmt.Println(line)
}

func plan(path, topic string) ([]group, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var groups []group
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), " ")
		if fields[0] == "with" {
			groups = append(groups, group{codec: fields[1], mode: fields[2]})
			continue
		}
		record, err := parse(fields, topic)
		if err != nil {
			return nil, err
		}
		last := &groups[len(groups)-1]
		last.records = append(last.records, record)
	}
	return groups, lines.Err()
}

func parse(fields []string, topic string) (*kgo.Record, error) {
	partition, err := strconv.ParseInt(fields[0], 10, 32)
	if err != nil {
		return nil, err
	}
	timestamp, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return nil, err
	}
	record := &kgo.Record{
		Topic: topic, Partition: int32(partition), Timestamp: time.UnixMilli(timestamp),
		Key: unhex(fields[2]), Value: unhex(fields[3]),
	}
	for _, field := range fields[4:] {
		name, value, _ := strings.Cut(field, "=")
		record.Headers = append(record.Headers, kgo.RecordHeader{Key: string(unhex(name)), Value: unhex(value)})
	}
	return record, nil
}

func unhex(text string) []byte {
	if text == "-" {
		return nil
	}
	bytes, err := hex.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return bytes
}

func asHex(bytes []byte) string {
	if bytes == nil {
		return "-"
	}
	return hex.EncodeToString(bytes)
}

"""kafka-python as a client of the tests; its words are those of rows.py."""

import rows
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

SECONDS = 30


def write(bootstrap, topic, number, codec, mode, records):
    config = {"bootstrap_servers": bootstrap.split(","), "acks": "all", "linger_ms": 50}
    config["compression_type"] = None if codec == "none" else codec
    config["enable_idempotence"] = mode != "plain"
    transactional = mode in ("commit", "abort")
    if transactional:
        config["transactional_id"] = f"kafka-python-{topic}-{number}"
    producer = KafkaProducer(**config)
    if transactional:
        producer.init_transactions()
        producer.begin_transaction()
    sent = [
        producer.send(topic, value=value, key=key, headers=headers, partition=partition, timestamp_ms=timestamp)
        for partition, timestamp, key, value, headers in records]
    producer.flush(SECONDS)
    for future in sent:
        future.get(SECONDS)
    if mode == "commit":
        producer.commit_transaction()
    elif mode == "abort":
        producer.abort_transaction()
    producer.close(SECONDS)


def read(bootstrap, topic, isolation, count):
    consumer = KafkaConsumer(
        bootstrap_servers=bootstrap.split(","), isolation_level=isolation, fetch_max_wait_ms=100,
        enable_auto_commit=False)
    consumer.assign([TopicPartition(topic, partition) for partition in consumer.partitions_for_topic(topic)])
    consumer.seek_to_beginning()
    while count > 0:
        polled = consumer.poll(SECONDS * 1000)
        if not polled:
            raise SystemExit(f"nothing for {SECONDS} s, and {count} records are missing")
        count -= take(polled)
    consumer.close()


def join(bootstrap, topic, group):
    consumer = KafkaConsumer(
        topic, bootstrap_servers=bootstrap.split(","), group_id=group, auto_offset_reset="earliest",
        heartbeat_interval_ms=300, fetch_max_wait_ms=100)
    rows.Told.expect()
    try:
        while True:
            # Long, and not again and again: 3.0.12 forgets an assignment that arrives just when a poll's time is over, and
            # polls on without one.
            take(consumer.poll(SECONDS * 1000))
    except rows.Told:
        consumer.close()


def take(polled):
    count = 0
    for records in polled.values():
        for record in records:
            rows.show(record.partition, record.offset, record.timestamp, record.key, record.value, record.headers)
            count += 1
    return count


rows.run(write, read, join)

"""confluent-kafka (librdkafka) as a client of the tests; its words are those of rows.py."""

import rows
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

SECONDS = 30


def write(bootstrap, topic, number, codec, mode, records):
    config = {"bootstrap.servers": bootstrap, "compression.codec": codec, "linger.ms": 50}
    config["enable.idempotence"] = mode != "plain"
    transactional = mode in ("commit", "abort")
    if transactional:
        config["transactional.id"] = f"confluent-{topic}-{number}"
    producer = Producer(config)
    failed = []
    if transactional:
        producer.init_transactions(SECONDS)
        producer.begin_transaction()
    for partition, timestamp, key, value, headers in records:
        producer.produce(
            topic, value, key, partition=partition, timestamp=timestamp, headers=headers or None,
            on_delivery=lambda error, _: failed.append(error) if error else None)
    left = producer.flush(SECONDS)
    if left or failed:
        raise SystemExit(f"{left} records not delivered, refused: {failed}")
    if mode == "commit":
        producer.commit_transaction(SECONDS)
    elif mode == "abort":
        producer.abort_transaction(SECONDS)


def read(bootstrap, topic, isolation, count):
    consumer = Consumer({
        "bootstrap.servers": bootstrap, "group.id": "none", "enable.auto.commit": False,
        "isolation.level": isolation, "fetch.wait.max.ms": 100})
    partitions = consumer.list_topics(topic, SECONDS).topics[topic].partitions
    consumer.assign([TopicPartition(topic, partition, 0) for partition in partitions])
    while count > 0:
        message = consumer.poll(SECONDS)
        if message is None:
            raise SystemExit(f"nothing for {SECONDS} s, and {count} records are missing")
        take(message)
        count -= 1
    consumer.close()


def join(bootstrap, topic, group):
    told = rows.told()
    consumer = Consumer({
        "bootstrap.servers": bootstrap, "group.id": group, "auto.offset.reset": "earliest",
        "heartbeat.interval.ms": 300, "fetch.wait.max.ms": 100})
    consumer.subscribe([topic])
    while not told():
        message = consumer.poll(0.1)
        if message is not None:
            take(message)
    consumer.close()


def take(message):
    if message.error():
        raise KafkaException(message.error())
    rows.show(
        message.partition(), message.offset(), message.timestamp()[1], message.key(), message.value(), message.headers())


rows.run(write, read, join)
